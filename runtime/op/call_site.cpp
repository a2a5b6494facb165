// Where in the program a call comes from, as addresses; the launcher turns them into lines after the
// program's end.
#include "runtime/op/observer.h"

#include "runtime/op/journal.h"

#include <algorithm>
#include <link.h>
#include <string_view>
#include <unistd.h>
#include <unwind.h>

namespace reprobe::op {
namespace {

constexpr std::size_t kMostFrames = 12;  // kept for a site
constexpr std::size_t kHashedFrames = 4; // that tell sites apart
constexpr int kMostUnwound = 128;

struct Module {
  std::uintptr_t begin, end, bias;
  std::string path;
  bool of_program;
};

struct Modules {
  std::vector<Module> sorted;
  unsigned long long loads = 0;
};

bool of_program(std::string_view path) {
  const auto slash = path.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  for (const std::string_view library :
       {"libtorch",   "libc10",   "libreprobe-", "libc.so", "libm.so",   "libstdc++", "libgcc_s", "libgomp",
        "libpthread", "libdl.so", "ld-linux",    "libcuda", "libcudnn",  "libcublas", "libcu",    "libnv",
        "libnccl",    "libomp",   "libiomp",     "libmkl",  "libpython", "linux-vdso"})
    if (name.substr(0, library.size()) == library)
      return false;
  return true;
}

int add_module(dl_phdr_info* info, std::size_t, void* into) {
  auto& modules = *static_cast<Modules*>(into);
  modules.loads = info->dlpi_adds;
  std::string path = info->dlpi_name;
  if (path.empty()) {
    char buffer[4096];
    const ssize_t length = ::readlink("/proc/self/exe", buffer, sizeof buffer);
    if (length > 0)
      path.assign(buffer, static_cast<std::size_t>(length));
  }
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
      continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    modules.sorted.push_back({begin, begin + segment.p_memsz, info->dlpi_addr, path, of_program(path)});
  }
  return 0;
}

std::atomic<const Modules*> current_modules{nullptr};

const Modules* read_modules() {
  auto* modules = new Modules; // replaced tables stay: other threads may be reading them
  ::dl_iterate_phdr(add_module, modules);
  std::sort(modules->sorted.begin(), modules->sorted.end(),
            [](const Module& a, const Module& b) { return a.begin < b.begin; });
  current_modules.store(modules);
  return modules;
}

const Module* search(const Modules& modules, std::uintptr_t address) {
  auto after =
      std::upper_bound(modules.sorted.begin(), modules.sorted.end(), address,
                       [](std::uintptr_t value, const Module& module) { return value < module.begin; });
  if (after == modules.sorted.begin())
    return nullptr;
  --after;
  return address < after->end ? &*after : nullptr;
}

int read_loads(dl_phdr_info* info, std::size_t, void* into) {
  *static_cast<unsigned long long*>(into) = info->dlpi_adds;
  return 1;
}

const Module* find_module(std::uintptr_t address) {
  const Modules* modules = current_modules.load();
  if (!modules)
    modules = read_modules();
  if (const Module* module = search(*modules, address))
    return module;
  unsigned long long loads = 0;
  ::dl_iterate_phdr(read_loads, &loads);
  if (loads == modules->loads)
    return nullptr; // generated code
  return search(*read_modules(), address);
}

struct Unwinding {
  std::uintptr_t addresses[kMostFrames];
  std::size_t count = 0;
  int seen = 0;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* into) {
  auto& unwinding = *static_cast<Unwinding*>(into);
  const std::uintptr_t address = _Unwind_GetIP(context);
  if (address == 0 || ++unwinding.seen > kMostUnwound)
    return _URC_END_OF_STACK;
  const Module* module = find_module(address - 1);
  // Return addresses point behind the call.
  if (module && module->of_program)
    unwinding.addresses[unwinding.count++] = address - 1;
  return unwinding.count == kMostFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

} // namespace

std::pair<std::string, std::uintptr_t> locate(std::uintptr_t address) {
  const Module* module = find_module(address);
  return module ? std::pair(module->path, address - module->bias) : std::pair(std::string(), address);
}

const Site* call_site(ThreadState& thread) {
  Unwinding unwinding;
  _Unwind_Backtrace(add_frame, &unwinding);
  std::uint64_t hash = 1;
  for (std::size_t i = 0; i < std::min(unwinding.count, kHashedFrames); ++i)
    hash = mix(hash, unwinding.addresses[i]);
  if (const auto known = thread.sites.find(hash); known != thread.sites.end())
    return known->second;
  const Site* site = nullptr;
  bool fresh = false;
  {
    std::lock_guard lock(registry().sites_mutex);
    const Site*& entry = registry().sites[hash];
    if (!entry) {
      auto* made = new Site;
      made->id = static_cast<std::uint32_t>(registry().sites.size() - 1);
      made->hash = hash;
      made->addresses.assign(unwinding.addresses, unwinding.addresses + unwinding.count);
      if (registry().options.ask_lines)
        made->flagged = journal::is_flagged(*made);
      entry = made;
      fresh = true;
    }
    site = entry;
  }
  if (fresh)
    journal::site(*site);
  return thread.sites[hash] = site;
}

} // namespace reprobe::op
