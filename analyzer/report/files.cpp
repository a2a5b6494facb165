// Files in and out.
#include "analyzer/report/findings.h"
#include "analyzer/report/json_access.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace reprobe::report {
namespace {

[[noreturn]] void cannot_write(const std::filesystem::path& path, int error) {
  throw Error("cannot be written", path.string(), std::strerror(error), "name another file with -o", 3);
}

void write_all(int descriptor, const std::string& text, const std::filesystem::path& path) {
  for (std::size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(descriptor, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) cannot_write(path, errno);
    written += static_cast<std::size_t>(count);
  }
}

bool is_special(const std::filesystem::path& path) { // a pipe or device is written to, never replaced
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

} // namespace

void write_file(const std::filesystem::path& path, const std::string& text) {
  if (path == "-") {
    std::fflush(stdout);
    write_all(STDOUT_FILENO, text, "standard output");
    return;
  }
  if (is_special(path)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) cannot_write(path, errno);
    write_all(descriptor, text, path);
    ::close(descriptor);
    return;
  }
  // Through a link the file it names is replaced, not the link.
  std::error_code ignored;
  const std::filesystem::path target = std::filesystem::is_symlink(path, ignored) ? std::filesystem::weakly_canonical(path) : path;
  std::string temporary = target.string() + ".XXXXXX";
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) cannot_write(path, errno);
  try {
    write_all(descriptor, text, path);
    // mkostemp's 0600 is for secrets; a report gets what any new file would.
    const mode_t mask = ::umask(0);
    ::umask(mask);
    struct stat status{};
    ::fchmod(descriptor, ::stat(target.c_str(), &status) == 0 ? status.st_mode & 07777 : 0666 & ~mask);
    if (::fsync(descriptor) != 0 && errno != EINVAL && errno != ENOSYS) cannot_write(path, errno);
    if (::rename(temporary.c_str(), target.c_str()) != 0) cannot_write(path, errno);
  } catch (...) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
    throw;
  }
  ::close(descriptor);
}

std::string read_file(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) throw Error("is a folder", path.string(), "a file is needed here");
  if (std::filesystem::is_character_file(path) || std::filesystem::is_block_file(path))
    throw Error("is a device", path.string(), "a file is needed here"); // some never end
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error("cannot be read", path.string(), std::strerror(errno ? errno : EIO));
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

Json parse_json(const std::string& text, const std::string& origin) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw Error("is not JSON", origin, text.empty() ? "it is empty" : error.what());
  }
}

void check_schema(const Json& document, const std::string& origin, const std::string& schema) {
  const auto found = document.is_object() ? document.find("schema") : document.end();
  const std::string actual = document.is_object() && found != document.end() && found->is_string() ? found->get<std::string>() : "";
  if (actual != schema)
    throw Error("has another schema", origin, "expected \"" + schema + "\", found \"" + actual + "\"",
                "make it again with this version of reprobe");
}

std::string dump(const Json& document) { return document.dump(1, ' ', true, Json::error_handler_t::replace) + "\n"; }

bool use_color(const std::string& choice, std::FILE* stream) {
  if (choice == "always") return true;
  return choice == "auto" && !std::getenv("NO_COLOR") && ::isatty(::fileno(stream));
}

} // namespace reprobe::report
