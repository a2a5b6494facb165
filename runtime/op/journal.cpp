#include "runtime/op/observer.h"

#include "runtime/op/file_size_signal.h"
#include "runtime/op/identity.h"
#include "runtime/op/journal.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace reprobe::op {
namespace {

struct Files {
  int journal = -1;
  dev_t device = 0;
  ino_t inode = 0;
  SharedPage* page = nullptr;
  std::mutex mutex;
  std::string processes, questions;
};

Files& files() {
  static Files* files = new Files;
  return *files;
}

/// Programs may close every descriptor and open files of their own under the same number.
bool is_still_ours(const Files& files) {
  struct stat status {};
  return ::fstat(files.journal, &status) == 0 && status.st_dev == files.device && status.st_ino == files.inode;
}

void write_line(const nlohmann::json& line) {
  std::string text = line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::lock_guard lock(files().mutex);
  const WithoutFileSizeSignal quiet;
  if (files().journal >= 0 && !is_still_ours(files()))
    files().journal = -1; // the launcher sees no end
  for (std::size_t done = 0; files().journal >= 0 && done < text.size();) {
    const ssize_t written = ::write(files().journal, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0) {
      // A full disk: the launcher sees the cut line and no end.
      ::close(files().journal);
      files().journal = -1;
      break;
    }
    done += static_cast<std::size_t>(written);
  }
}

nlohmann::json frames_of(const Site& site) {
  nlohmann::json frames = nlohmann::json::array();
  for (const std::uintptr_t address : site.addresses) {
    const auto [module, offset] = locate(address);
    frames.push_back({module, offset});
  }
  return frames;
}

sockaddr_un answers_at(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

/// JSON has no infinity.
nlohmann::json finite(double value) {
  if (value > std::numeric_limits<double>::max())
    return "inf";
  return value;
}

nlohmann::json mode(const Signature& signature) {
  return {{"autocast", signature.autocast},
          {"strict", signature.strict},
          {"warn_only", signature.warn_only},
          {"cudnn_benchmark", signature.benchmark},
          {"cudnn_deterministic", signature.cudnn_deterministic},
          {"tf32_matmul", signature.tf32_matmul},
          {"tf32_cudnn", signature.tf32_cudnn},
          {"grad", signature.grad}};
}

} // namespace

nlohmann::json to_json(const MeasurementLine& result) {
  nlohmann::json outputs = nlohmann::json::array();
  for (const OutputLine& output : result.outputs) {
    nlohmann::json line = {{"name", output.name},
                           {"dtype", output.dtype},
                           {"shape", output.shape},
                           {"distinct", output.distinct},
                           {"differing_share", output.differing_share},
                           {"max_ulp", finite(output.max_ulp)},
                           {"max_absolute", finite(output.max_absolute)},
                           {"max_relative", finite(output.max_relative)}};
    if (output.first_differing)
      line.update({{"mean_absolute", finite(output.mean_absolute)},
                   {"v_ermv", finite(output.v_ermv)},
                   {"v_c", output.v_c},
                   {"nan_mismatches", output.nan_mismatches},
                   {"infinity_mismatches", output.infinity_mismatches},
                   {"ulp_histogram", output.ulp_histogram},
                   {"first_differing", *output.first_differing}});
    if (output.same_values)
      line["same_values"] = *output.same_values;
    outputs.push_back(std::move(line));
  }
  return {{"verdict", result.verdict},
          {"reason", result.reason},
          {"rounds", result.rounds},
          {"distinct", result.distinct},
          {"microseconds", result.microseconds},
          {"blamed", result.blamed},
          {"outputs", std::move(outputs)}};
}

namespace journal {

bool open(const std::string& directory) {
  for (int attempt = 0; attempt < 1000; ++attempt) { // a process may replace itself and keep its number
    const std::string name = std::to_string(::getpid()) + "-" + std::to_string(attempt);
    const int journal = ::open((directory + "/journal-" + name).c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (journal < 0) {
      if (errno == EEXIST)
        continue;
      return false;
    }
    const int shared =
        ::open((directory + "/shared-" + name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    // Allocated now: touching a page that a full file system cannot hold would kill the program.
    const WithoutFileSizeSignal quiet;
    if (shared < 0 || ::posix_fallocate(shared, 0, sizeof(SharedPage)) != 0)
      return false;
    void* page = ::mmap(nullptr, sizeof(SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    ::close(shared);
    if (page == MAP_FAILED)
      return false;
    // Out of the way: programs count on low numbers.
    const int high = ::fcntl(journal, F_DUPFD_CLOEXEC, 500);
    if (high >= 0)
      ::close(journal);
    files().journal = high >= 0 ? high : journal;
    struct stat status {};
    if (::fstat(files().journal, &status) != 0)
      return false;
    files().device = status.st_dev;
    files().inode = status.st_ino;
    files().page = static_cast<SharedPage*>(page);
    files().processes = directory + "/processes";
    files().questions = directory + "/questions";
    const Identity identity = process_identity();
    write_line({{"kind", "process"}, {"rank", identity.rank}, {"host", identity.host},
                {"process", identity.process}});
    return true;
  }
  return false;
}

SharedPage& page() {
  return *files().page;
}

void site(const Site& site) {
  write_line({{"kind", "site"}, {"id", site.id}, {"frames", frames_of(site)}});
}

bool is_flagged(const Site& site) {
  const int asking = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (asking < 0)
    return false;
  const nlohmann::json frames = frames_of(site);
  const std::string question = frames.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const sockaddr_un address = answers_at(files().questions);
  char answer = '0';
  if (::connect(asking, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    std::size_t sent = 0;
    for (ssize_t count; sent < question.size(); sent += static_cast<std::size_t>(count))
      if ((count = ::send(asking, question.data() + sent, question.size() - sent, MSG_NOSIGNAL)) <= 0)
        break;
    while (::recv(asking, &answer, 1, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(asking);
  return answer == '1';
}

void signature(Signature& signature) {
  if (signature.announced.exchange(true))
    return;
  nlohmann::json path = nlohmann::json::array();
  for (const Signature* caller = signature.parent; caller; caller = caller->parent)
    path.insert(path.begin(), caller->op->name);
  nlohmann::json line = {{"kind", "signature"},
                         {"id", signature.id},
                         {"operator", signature.op->name},
                         {"overload", signature.op->overload},
                         {"signature", signature.text},
                         {"device", signature.device},
                         {"direction", signature.direction},
                         {"backward_node", signature.backward_node},
                         {"mode", mode(signature)},
                         {"path", std::move(path)},
                         {"function", signature.backward_of_function}};
  if (signature.site)
    line["site"] = signature.site->id;
  if (signature.parent)
    line["parent"] = signature.parent->id;
  write_line(line);
}

void measured(Signature& of, const MeasurementLine& result) {
  signature(of);
  nlohmann::json line = to_json(result);
  line["kind"] = "measured";
  line["id"] = of.id;
  write_line(line);
}

void saved_case(const Signature& of, const std::string& name) {
  write_line({{"kind", "case"}, {"id", of.id}, {"name", name}});
}

void line(const nlohmann::json& line) {
  write_line(line);
}

void skipped(Signature& of, const std::string& reason) {
  if (of.skip_noted.exchange(true))
    return;
  signature(of);
  write_line({{"kind", "skipped"}, {"id", of.id}, {"reason", reason}});
}

void remark(const std::string& text) {
  write_line({{"kind", "remark"}, {"text", text}});
}

void environment(const std::string& json) {
  write_line({{"kind", "environment"}, {"values", nlohmann::json::parse(json)}});
}

void initial_flags(const nlohmann::json& values) {
  write_line({{"kind", "flags"}, {"values", values}});
}

void flag_change(const FlagChange& change) {
  nlohmann::json line = {{"kind", "flag"}, {"flag", change.flag}, {"from", change.from},
                         {"to", change.to}, {"step", change.step}, {"operator", change.op}};
  if (change.site)
    line["site"] = change.site->id;
  write_line(line);
}

void end() {
  write_line({{"kind", "end"}});
}

void forked() {
  const int file = ::open(files().processes.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  char line[128];
  const int length =
      std::snprintf(line, sizeof line, "%ld\t\tnot-observed\tforked from an observed process\n",
                    static_cast<long>(::getpid()));
  if (file >= 0) {
    [[maybe_unused]] const ssize_t written = ::write(file, line, static_cast<std::size_t>(length));
    ::close(file);
  }
  files().journal = -1; // the parent's; closed on exec
}

} // namespace journal

Replaying::Replaying(const std::string& name) {
  for (int i = 0; i < SharedPage::kSlots; ++i) {
    int expected = 0;
    auto& slot = journal::page().replaying[i];
    if (!slot.active.compare_exchange_strong(expected, 1))
      continue;
    std::strncpy(slot.name, name.c_str(), SharedPage::kNameBytes - 1);
    slot.active.store(2);
    slot_ = i;
    return;
  }
}

Replaying::~Replaying() {
  if (slot_ >= 0)
    journal::page().replaying[slot_].active.store(0);
}

} // namespace reprobe::op
