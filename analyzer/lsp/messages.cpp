#include "analyzer/lsp/messages.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <strings.h>

namespace reprobe::lsp {
namespace {

constexpr std::size_t kLargestMessage = 256u << 20, kLongestHeader = 64u << 10; // bytes

std::optional<std::size_t> content_length(const std::string& header) {
  constexpr const char* kName = "content-length:";
  for (std::size_t begin = 0; begin < header.size();) {
    const std::size_t end = std::min(header.find('\n', begin), header.size());
    if (strncasecmp(header.c_str() + begin, kName, std::strlen(kName)) == 0) {
      std::size_t first = begin + std::strlen(kName), length = 0;
      while (first < end && header[first] == ' ')
        ++first;
      const auto [stop, error] = std::from_chars(header.data() + first, header.data() + end, length);
      const bool ends = stop == header.data() + end || *stop == '\r';
      return error == std::errc() && ends ? std::optional(length) : std::nullopt;
    }
    begin = end + 1;
  }
  return std::nullopt;
}

int hex_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) ? c - '0' : std::tolower(c) - 'a' + 10;
}

} // namespace

std::optional<std::string> MessageReader::next() {
  while (!lost_) {
    const std::size_t end = buffer_.find("\r\n\r\n");
    if (end == std::string::npos) {
      lost_ = buffer_.size() > kLongestHeader;
      return std::nullopt;
    }
    const auto length = content_length(buffer_.substr(0, end));
    if (!length) {
      buffer_.erase(0, end + 4);
      continue;
    }
    lost_ = *length > kLargestMessage;
    if (lost_ || buffer_.size() < end + 4 + *length)
      return std::nullopt;
    std::string text = buffer_.substr(end + 4, *length);
    buffer_.erase(0, end + 4 + *length);
    return text;
  }
  return std::nullopt;
}

std::string framed(const Json& message) {
  const std::string text = message.dump(-1, ' ', false, Json::error_handler_t::replace);
  return "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
}

std::string path_of(const std::string& uri) {
  constexpr const char* kScheme = "file://";
  if (!uri.starts_with(kScheme))
    return {};
  const std::size_t begin = uri.find('/', std::strlen(kScheme)); // a host may stand between
  std::string path;
  for (std::size_t i = begin; i < uri.size(); ++i) {
    const bool escaped = uri[i] == '%' && i + 2 < uri.size() &&
                         std::isxdigit(static_cast<unsigned char>(uri[i + 1])) &&
                         std::isxdigit(static_cast<unsigned char>(uri[i + 2]));
    path += escaped ? static_cast<char>(hex_digit(uri[i + 1]) * 16 + hex_digit(uri[i + 2])) : uri[i];
    i += escaped ? 2 : 0;
  }
  return path.find('\0') == std::string::npos ? path : std::string();
}

std::string uri_of(const std::string& path) {
  std::string uri = "file://";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) ? byte < 0x80 : std::strchr("/-_.~", c) && c;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return uri;
}

} // namespace reprobe::lsp
