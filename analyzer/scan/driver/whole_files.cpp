#include "analyzer/scan/driver/whole_files.h"

#include "analyzer/scan/facts/digest.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace reprobe::scan {
namespace fs = std::filesystem;

std::optional<std::string> read_whole(const fs::path& file) {
  // Not blocking: opening a pipe would wait for a writer.
  const int in = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about;
  if (in < 0 || fstat(in, &about) != 0 || !S_ISREG(about.st_mode)) {
    if (in >= 0)
      close(in);
    return std::nullopt;
  }
  std::string text(static_cast<std::size_t>(about.st_size) + 1, '\0'); // one more: it may have grown
  std::size_t size = 0;
  for (;;) {
    const ssize_t got = read(in, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0) {
      close(in);
      return std::nullopt;
    }
    if (got == 0)
      break;
    size += static_cast<std::size_t>(got);
    if (size == text.size())
      text.resize(2 * text.size());
  }
  close(in);
  text.resize(size);
  return text;
}

bool write_whole(const fs::path& file, std::string_view text) {
  std::string temporary = file.string() + ".tmp-XXXXXX";
  const int out = mkostemp(temporary.data(), O_CLOEXEC);
  if (out < 0)
    return false;
  bool good = true;
  for (std::size_t done = 0; good && done < text.size();) {
    const ssize_t put = write(out, text.data() + done, text.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    good = put > 0;
    done += good ? static_cast<std::size_t>(put) : 0;
  }
  good = close(out) == 0 && good;
  good = good && rename(temporary.c_str(), file.c_str()) == 0;
  if (!good)
    unlink(temporary.c_str());
  return good;
}

bool write_checked(const fs::path& file, std::string_view magic, std::string_view content) {
  const Digest digest = digest_of(content);
  std::string text(magic);
  text.append(reinterpret_cast<const char*>(&digest), sizeof digest);
  text += content;
  return write_whole(file, text);
}

std::optional<std::string> read_checked(const fs::path& file, std::string_view magic) {
  std::optional<std::string> text = read_whole(file);
  Digest digest;
  const std::size_t start = magic.size() + sizeof digest;
  if (!text || text->size() < start || !text->starts_with(magic))
    return std::nullopt;
  std::memcpy(&digest, text->data() + magic.size(), sizeof digest);
  if (digest_of(std::string_view(*text).substr(start)) != digest)
    return std::nullopt;
  text->erase(0, start);
  return text;
}

} // namespace reprobe::scan
