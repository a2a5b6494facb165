// The language server protocol's base layer: JSON documents behind Content-Length headers.
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace reprobe::lsp {

using Json = nlohmann::json;

/// Cuts a stream of bytes into messages, whatever the pieces in which it arrives.
class MessageReader {
public:
  void add(const char* bytes, std::size_t count) { buffer_.append(bytes, count); }
  /// The text of the next message, if it is there as a whole. Headers that say no length are skipped.
  std::optional<std::string> next();
  /// The peer announced more than any editor sends: the stream cannot be followed any further.
  bool is_lost() const { return lost_; }

private:
  std::string buffer_;
  bool lost_ = false;
};

std::string framed(const Json& message);

/// "file:///a%20b.cpp" to "/a b.cpp"; empty for other schemes.
std::string path_of(const std::string& uri);
std::string uri_of(const std::string& path);

} // namespace reprobe::lsp
