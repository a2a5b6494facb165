# CUDA: device code is compiled wherever nvcc is, GPU or not. Sets REPROBE_HAVE_CUDA, REPROBE_CUDA_STATUS.
find_program(REPROBE_NVCC nvcc HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
set(REPROBE_HAVE_CUDA OFF)
if(REPROBE_NVCC)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  set(CMAKE_CUDA_COMPILER ${REPROBE_NVCC})
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 17)
  find_package(CUDAToolkit REQUIRED)
  set(REPROBE_HAVE_CUDA ON)
  set(REPROBE_CUDA_STATUS "on (CUDA ${CUDAToolkit_VERSION})")
else()
  set(REPROBE_CUDA_STATUS "off: no nvcc (on PATH, in CUDA_HOME or in /usr/local/cuda); results on a GPU are compared on the host")
endif()

# LibTorch: target reprobe_torch (torch_cpu and c10), target reprobe_torch_cuda (with torch_cuda where it is there).
# Sets REPROBE_HAVE_TORCH, REPROBE_TORCH_ROOT, REPROBE_TORCH_VERSION, REPROBE_TORCH_STATUS.
include(${CMAKE_CURRENT_LIST_DIR}/FindTorchRoot.cmake)
set(REPROBE_HAVE_TORCH OFF)
if(REPROBE_TORCH_ROOT)
  file(STRINGS "${REPROBE_TORCH_ROOT}/share/cmake/Torch/TorchConfigVersion.cmake" _version REGEX "PACKAGE_VERSION \"")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" REPROBE_TORCH_VERSION "${_version}")
  # Older wheels use the old std::string: the program, the observer and LibTorch must agree.
  file(STRINGS "${REPROBE_TORCH_ROOT}/share/cmake/Torch/TorchConfig.cmake" _abi REGEX "_GLIBCXX_USE_CXX11_ABI=[01]")
  string(REGEX MATCH "_GLIBCXX_USE_CXX11_ABI=[01]" _abi "${_abi}")

  add_library(reprobe_torch INTERFACE)
  target_include_directories(reprobe_torch SYSTEM INTERFACE
    ${REPROBE_TORCH_ROOT}/include ${REPROBE_TORCH_ROOT}/include/torch/csrc/api/include)
  if(_abi)
    target_compile_definitions(reprobe_torch INTERFACE ${_abi})
  endif()
  target_link_directories(reprobe_torch INTERFACE ${REPROBE_TORCH_ROOT}/lib)
  target_link_libraries(reprobe_torch INTERFACE ${REPROBE_TORCH_ROOT}/lib/libtorch_cpu.so ${REPROBE_TORCH_ROOT}/lib/libc10.so)
  # The wheels' own needs (CUPTI, the CUDA runtime) lie beside it or in the toolkit: found at run time.
  target_link_options(reprobe_torch INTERFACE -Wl,--allow-shlib-undefined -Wl,-rpath,${REPROBE_TORCH_ROOT}/lib)

  # LibTorch and the program must share one C++ library. Some compilers come with a static one only, and then two copies
  # free each other's locales at exit.
  file(WRITE ${CMAKE_BINARY_DIR}/CMakeFiles/shared_standard_library.cpp "#include <iostream>\nint main() { std::cout << 1; }\n")
  try_compile(_linked ${CMAKE_BINARY_DIR}/CMakeFiles/shared_standard_library
    SOURCES ${CMAKE_BINARY_DIR}/CMakeFiles/shared_standard_library.cpp
    COPY_FILE ${CMAKE_BINARY_DIR}/CMakeFiles/shared_standard_library.out)
  if(_linked)
    file(STRINGS ${CMAKE_BINARY_DIR}/CMakeFiles/shared_standard_library.out _shared REGEX "lib(std)?c[+][+]\\.so")
    if(NOT _shared)
      message(STATUS "${CMAKE_CXX_COMPILER} links the C++ library statically: linking libstdc++.so.6 beside LibTorch")
      target_link_libraries(reprobe_torch INTERFACE -Wl,--push-state,--no-as-needed -l:libstdc++.so.6 -Wl,--pop-state)
    endif()
  endif()

  add_library(reprobe_torch_cuda INTERFACE)
  target_link_libraries(reprobe_torch_cuda INTERFACE reprobe_torch)
  set(REPROBE_HAVE_TORCH_CUDA OFF)
  if(EXISTS ${REPROBE_TORCH_ROOT}/lib/libtorch_cuda.so AND REPROBE_HAVE_CUDA)
    set(REPROBE_HAVE_TORCH_CUDA ON)
    target_include_directories(reprobe_torch_cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
    target_link_libraries(reprobe_torch_cuda INTERFACE
      -Wl,--no-as-needed ${REPROBE_TORCH_ROOT}/lib/libtorch_cuda.so ${REPROBE_TORCH_ROOT}/lib/libc10_cuda.so -Wl,--as-needed
      CUDA::cudart)
  endif()
  set(REPROBE_HAVE_TORCH ON)
  set(REPROBE_TORCH_STATUS "on (LibTorch ${REPROBE_TORCH_VERSION})")
else()
  set(REPROBE_TORCH_STATUS "off: no LibTorch 2.4 or newer (set Torch_DIR or CMAKE_PREFIX_PATH, activate a Python with torch, or run tests/setup.sh)")
endif()
