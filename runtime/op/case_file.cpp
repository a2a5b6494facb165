#include "runtime/op/case_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace reprobe::op {
namespace {

using nlohmann::json;

constexpr char kMark[] = "reprobe-file/1 ";
constexpr std::size_t kMarkBytes = sizeof kMark - 1, kDigits = 15, kHashDigits = 32;
constexpr std::size_t kLine = kMarkBytes + kDigits + 1 + kHashDigits + 1;
static_assert(kLine == 64);
constexpr std::uint64_t kMostHeader = std::uint64_t(64) << 20;
constexpr char kZeros[64] = {};

std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

std::string first_line(std::uint64_t header_bytes, const Hash128& hash) {
  char digits[kDigits + 1];
  std::snprintf(digits, sizeof digits, "%015llx", static_cast<unsigned long long>(header_bytes));
  return kMark + std::string(digits) + " " + hash.hex() + "\n";
}

/// A regular file, read in pieces.
class Input {
public:
  explicit Input(const std::string& path) {
    // Not blocking: a FIFO is refused, not waited for.
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status {};
    if (file_ < 0 || ::fstat(file_, &status) != 0)
      throw FileProblem{std::string("it cannot be opened: ") + std::strerror(errno)};
    if (!S_ISREG(status.st_mode)) {
      ::close(file_);
      throw FileProblem{"it is no regular file"};
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
  }
  ~Input() { ::close(file_); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  std::uint64_t size() const { return size_; }
  void read(std::uint64_t at, char* into, std::size_t bytes) const {
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t got = ::pread(file_, into + done, bytes - done, static_cast<off_t>(at + done));
      if (got < 0 && errno == EINTR)
        continue;
      if (got <= 0)
        throw FileProblem{got < 0 ? std::string("it cannot be read: ") + std::strerror(errno)
                                  : std::string("it ends too early")};
      done += static_cast<std::size_t>(got);
    }
  }

private:
  int file_ = -1;
  std::uint64_t size_ = 0;
};

struct Head {
  std::string hash;
  json header;
  std::uint64_t data_at = 0, data_bytes = 0;
  std::string header_text;
};

Head read_head(const Input& input, const std::string& schema) {
  std::string line(kLine, '\0');
  if (input.size() < kLine)
    throw FileProblem{"it is shorter than the first line of a case"};
  input.read(0, line.data(), kLine);
  if (line.compare(0, kMarkBytes, kMark) != 0 || line[kMarkBytes + kDigits] != ' ' ||
      line.back() != '\n')
    throw FileProblem{"it is no file of this kind (it does not start with \"" + std::string(kMark) + "\")"};
  const std::string digits = line.substr(kMarkBytes, kDigits);
  if (digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw FileProblem{"its first line is damaged"};
  const std::uint64_t bytes = std::strtoull(digits.c_str(), nullptr, 16);
  if (bytes > kMostHeader || bytes > input.size() - kLine)
    throw FileProblem{"its header is longer than the file: it was cut off or damaged"};
  Head head;
  head.hash = line.substr(kMarkBytes + kDigits + 1, kHashDigits);
  head.header_text.resize(bytes);
  input.read(kLine, head.header_text.data(), bytes);
  head.header = json::parse(head.header_text, nullptr, false);
  if (head.header.is_discarded() || !head.header.is_object())
    throw FileProblem{"its header is damaged (no JSON)"};
  const auto named = head.header.find("schema");
  if (named == head.header.end() || *named != schema)
    throw FileProblem{"it is not \"" + schema + "\", which is what this version of Reprobe reads"};
  const auto data = head.header.find("data_bytes");
  if (data == head.header.end() || !data->is_number_unsigned())
    throw FileProblem{"its header has no \"data_bytes\""};
  head.data_at = padded(kLine + bytes);
  head.data_bytes = data->get<std::uint64_t>();
  if (head.data_bytes % 64 != 0 || input.size() < head.data_at ||
      input.size() - head.data_at != head.data_bytes)
    throw FileProblem{"its length is not the one that its header names: it was cut off or damaged"};
  return head;
}

} // namespace

CaseWriter::CaseWriter(std::string path, json header, const DataLayout& layout)
    : path_(std::move(path)), temporary_(path_ + ".XXXXXX"), promised_(layout.bytes()) {
  header["data_bytes"] = promised_;
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception&) {
    throw FileProblem{"an argument is text that is not UTF-8"};
  }
  header_bytes_ = text.size();
  file_ = ::mkstemp(temporary_.data());
  if (file_ < 0)
    throw FileProblem{temporary_ + " cannot be written: " + std::strerror(errno)};
  ::fcntl(file_, F_SETFD, FD_CLOEXEC);
  ::fchmod(file_, 0644);
  try {
    write(first_line(header_bytes_, hash_).data(), kLine);
    write(text.data(), text.size());
    write(kZeros, padded(kLine + text.size()) - kLine - text.size());
  } catch (...) {
    ::close(file_);
    ::unlink(temporary_.c_str());
    throw;
  }
  hash_.add(text);
}

CaseWriter::~CaseWriter() {
  if (file_ < 0)
    return;
  ::close(file_);
  ::unlink(temporary_.c_str());
}

void CaseWriter::write(const void* bytes, std::size_t size) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t written = ::write(file_, static_cast<const char*>(bytes) + done, size - done);
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      throw FileProblem{temporary_ + " cannot be written: " + std::strerror(errno)};
    done += static_cast<std::size_t>(written);
  }
}

void CaseWriter::append(const void* bytes, std::size_t size) {
  // Hashed as it lies in the file, with the zeros that fill it up.
  const std::size_t whole = size / 64 * 64;
  write(bytes, size);
  hash_.add_words(bytes, whole);
  if (whole < size) {
    char rest[64] = {};
    std::memcpy(rest, static_cast<const char*>(bytes) + whole, size - whole);
    hash_.add_words(rest, sizeof rest);
    write(kZeros, padded(size) - size);
  }
  written_ += padded(size);
}

void CaseWriter::finish() {
  if (written_ != promised_)
    throw FileProblem{"internal error: the data are not those that the header names"};
  const std::string line = first_line(header_bytes_, hash_);
  if (::pwrite(file_, line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()))
    throw FileProblem{temporary_ + " cannot be written: " + std::strerror(errno)};
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    throw FileProblem{path_ + " cannot be written: " + std::strerror(error)};
  }
}

std::pair<const char*, std::size_t> CaseFile::stretch(const json& named) const {
  if (!named.is_object() || !named.contains("at") || !named.contains("bytes") ||
      !named["at"].is_number_unsigned() || !named["bytes"].is_number_unsigned())
    throw FileProblem{"its header names a stretch of data without \"at\" and \"bytes\""};
  const auto at = named["at"].get<std::uint64_t>(), bytes = named["bytes"].get<std::uint64_t>();
  if (at > data.size() || bytes > data.size() - at)
    throw FileProblem{"its header names data beyond the end"};
  return {data.data() + at, static_cast<std::size_t>(bytes)};
}

CaseFile read_case_file(const std::string& path, const std::string& schema, std::uint64_t most_bytes) {
  const Input input(path);
  Head head = read_head(input, schema);
  if (head.data_bytes > most_bytes)
    throw FileProblem{"its data (" + std::to_string(head.data_bytes >> 20) + " MiB) are over the memory budget"};
  CaseFile file;
  file.data.resize(head.data_bytes);
  input.read(head.data_at, file.data.data(), file.data.size());
  Hash128 hash;
  hash.add(head.header_text);
  hash.add_words(file.data.data(), file.data.size());
  if (hash.hex() != head.hash)
    throw FileProblem{"it is damaged: its hash is another one"};
  file.header = std::move(head.header);
  return file;
}

json read_case_header(const std::string& path, const std::string& schema) {
  return read_head(Input(path), schema).header;
}

void rewrite_case_header(const std::string& path, const json& header) {
  const CaseFile file = read_case_file(path, header.at("schema"), ~std::uint64_t(0));
  DataLayout layout;
  layout.place(file.data.size());
  CaseWriter writer(path, header, layout);
  writer.append(file.data.data(), file.data.size());
  writer.finish();
}

} // namespace reprobe::op
