# Finds LibTorch 2.4 or newer and sets REPROBE_TORCH_ROOT to the folder that holds its include/, lib/ and share/.
# Looks, in this order, at -DREPROBE_TORCH_ROOT, Torch_DIR, CMAKE_PREFIX_PATH, the active Python's torch, and the
# copy that the set-up keeps in the user's cache. As a script (cmake -P) it prints the folder, or nothing.
#
# find_package(Torch) is not used: it enables CUDA by itself and fails on machines without a GPU.

set(_reprobe_torch_candidates "")
foreach(_dir IN ITEMS "${Torch_DIR}" "$ENV{Torch_DIR}")
  if(_dir)
    get_filename_component(_root "${_dir}/../../.." ABSOLUTE)
    list(APPEND _reprobe_torch_candidates "${_root}")
  endif()
endforeach()
set(_reprobe_prefixes ${CMAKE_PREFIX_PATH})
if(DEFINED ENV{CMAKE_PREFIX_PATH})
  string(REPLACE ":" ";" _reprobe_environment_prefixes "$ENV{CMAKE_PREFIX_PATH}")
  list(APPEND _reprobe_prefixes ${_reprobe_environment_prefixes})
endif()
list(APPEND _reprobe_torch_candidates ${_reprobe_prefixes})

# -c keeps the current folder off sys.path only with -I; find_spec does not import torch.
find_program(_reprobe_python NAMES python3 python NO_CACHE)
if(_reprobe_python)
  execute_process(
    COMMAND "${_reprobe_python}" -I -c
      "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
    OUTPUT_VARIABLE _reprobe_python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND _reprobe_torch_candidates "${_reprobe_python_torch}")
endif()

if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
  set(_reprobe_cache "$ENV{XDG_CACHE_HOME}")
else()
  set(_reprobe_cache "$ENV{HOME}/.cache")
endif()
list(APPEND _reprobe_torch_candidates
  "${_reprobe_cache}/reprobe/libtorch-2.11.0/torch"
  "${_reprobe_cache}/reprobe/libtorch-2.11.0-without-toolkit/torch")

if(NOT REPROBE_TORCH_ROOT)
  foreach(_root IN LISTS _reprobe_torch_candidates)
    if(_root AND EXISTS "${_root}/include/torch/csrc/api/include/torch/torch.h" AND EXISTS "${_root}/lib/libtorch_cpu.so"
       AND EXISTS "${_root}/share/cmake/Torch/TorchConfig.cmake")
      file(STRINGS "${_root}/share/cmake/Torch/TorchConfigVersion.cmake" _version REGEX "PACKAGE_VERSION \"")
      string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" _version "${_version}")
      if(_version VERSION_GREATER_EQUAL "2.4")
        set(REPROBE_TORCH_ROOT "${_root}")
        break()
      endif()
      message(STATUS "LibTorch ${_version} in ${_root} passed over: 2.4 or newer is needed")
    endif()
  endforeach()
endif()

if(CMAKE_SCRIPT_MODE_FILE)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${REPROBE_TORCH_ROOT}")
endif()
