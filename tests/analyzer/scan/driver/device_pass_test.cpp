#include "analyzer/scan/driver/device_pass.h"
#include "analyzer/scan/driver/toolchain.h"
#include "folder.h"

#include <algorithm>

namespace reprobe::scan {
namespace {

// CUDA without a toolkit: Clang knows the language.
constexpr const char* kCuda = "#define __global__ __attribute__((global))\n#define __device__ __attribute__((device))\n"
                              "#define __host__ __attribute__((host))\n__device__ void modern(float*);\n"
                              "__host__ __device__ void old(float*);\n";

TranslationUnit parse(const Folder& folder, const std::string& code) {
  ParseRequest request;
  request.directory = request.root = folder.path;
  request.main_file = folder.write("kernel.cu", kCuda + code);
  request.command = {"clang++",     "-fsyntax-only", "-resource-dir", find_toolchain({}, {}).clang_resources.string(),
                     "-x",          "cuda",          "--cuda-host-only", "-nocudalib",
                     "-nogpulib",   "-nocudainc",    "--cuda-gpu-arch=sm_80", "--",
                     request.main_file.string()};
  return extract_host_and_device(request).unit;
}

std::vector<std::string> calls(const TranslationUnit& unit, const std::string& name) {
  std::vector<std::string> out;
  for (const Function& function : unit.functions)
    if (function.name == name)
      for (const Event& event : function.events)
        if (event.kind == Event::Kind::call)
          out.push_back(event.callee);
  return out;
}

TEST(DevicePass, KernelsAreSeenAsTheDeviceRunsThem) {
  Folder folder;
  const TranslationUnit unit = parse(folder, "__global__ void kernel(float* x) {\n#if __CUDA_ARCH__ >= 600\n  modern(x);\n"
                                             "#else\n  old(x);\n#endif\n}\nvoid host(float* x) { old(x); }\n");
  EXPECT_EQ(unit.status, "full") << unit.reason;
  EXPECT_EQ(calls(unit, "kernel"), std::vector<std::string>{"modern"});
  EXPECT_EQ(calls(unit, "host"), std::vector<std::string>{"old"});
}

TEST(DevicePass, DeviceOnlyFunctionsComeToo) {
  Folder folder;
  folder.write("part.cuh", "#ifdef __CUDA_ARCH__\n__device__ void extra(float* x) { modern(x); }\n#endif\n");
  const TranslationUnit unit = parse(folder, "#include \"part.cuh\"\n");
  ASSERT_EQ(calls(unit, "extra"), std::vector<std::string>{"modern"});
  const auto extra = std::find_if(unit.functions.begin(), unit.functions.end(),
                                  [](const Function& function) { return function.name == "extra"; });
  EXPECT_EQ(unit.files.at(extra->range.begin.file).path, "part.cuh");
  EXPECT_EQ(extra->range.begin.line, 2u);
}

} // namespace
} // namespace reprobe::scan
