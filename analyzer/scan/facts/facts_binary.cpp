#include "analyzer/scan/facts/facts_binary.h"

#include "analyzer/scan/facts/fields.h"
#include "analyzer/scan/facts/bytes.h"

#include <cstring>
#include <limits>
#include <unordered_map>

namespace reprobe::scan {
namespace {

constexpr int kDeepest = 400; // nesting of values; extraction stays far below it

template <class T>
constexpr bool is_position = std::is_same_v<T, Position> || std::is_same_v<T, Range>;

template <class T>
bool is_default(const T& value) {
  if constexpr (IsOptional<T>::value)
    return !value;
  else if constexpr (IsVector<T>::value)
    return value.empty();
  else if constexpr (std::is_same_v<T, double>)
    return std::memcmp(&value, "\0\0\0\0\0\0\0\0", sizeof value) == 0; // NaN and -0.0 are kept
  else if constexpr (std::is_same_v<T, Range>)
    return value.begin == Position{} && value.end == Position{};
  else
    return value == T{};
}

// Which fields are worth writing: one bit each.
struct Mask {
  std::uint64_t bits = 0, next = 1;
  template <class T>
  void operator()(const char*, T& value) {
    if (!is_default(value))
      bits |= next;
    next <<= 1;
  }
};

class Writer {
public:
  template <class T>
  void operator()(const char*, T& value) {
    if (!is_default(value))
      write(value);
  }

  template <class T>
  void write_struct(T& value) {
    Mask mask;
    fields(mask, value);
    body_.number(mask.bits);
    fields(*this, value);
  }

  std::string finish() && {
    Bytes out;
    out.number(order_.size());
    for (const std::string_view text : order_)
      out.text(text);
    return out.take() + body_.take();
  }

private:
  template <class T>
  void write(T& value) {
    if constexpr (std::is_same_v<T, double>)
      body_.raw(&value, sizeof value);
    else if constexpr (std::is_same_v<T, std::string>)
      body_.number(index_of(value));
    else if constexpr (std::is_enum_v<T>)
      body_.number(static_cast<std::uint64_t>(value));
    else if constexpr (std::is_signed_v<T>)
      body_.signed_number(value);
    else if constexpr (std::is_integral_v<T>)
      body_.number(value);
    else if constexpr (std::is_same_v<T, Position>)
      write_position(value);
    else if constexpr (std::is_same_v<T, Range>)
      write_position(value.begin), write_position(value.end);
    else if constexpr (IsOptional<T>::value)
      write(*value);
    else if constexpr (IsVector<T>::value)
      write_all(value);
    else
      write_struct(value);
  }

  template <class T>
  void write_all(std::vector<T>& values) {
    body_.number(values.size());
    for (T& value : values)
      write(value);
  }

  // Places stand close to the one before.
  void write_position(const Position& place) {
    body_.number(place.file);
    body_.signed_number(std::int64_t(place.line) - std::int64_t(last_.line));
    body_.number(place.column);
    body_.signed_number(std::int64_t(place.offset) - std::int64_t(last_.offset));
    last_ = place;
  }

  std::uint64_t index_of(const std::string& text) {
    const auto [place, fresh] = texts_.try_emplace(text, order_.size());
    if (fresh)
      order_.push_back(place->first);
    return place->second;
  }

  Bytes body_;
  std::unordered_map<std::string, std::uint64_t> texts_;
  std::vector<std::string_view> order_;
  Position last_;
};

class Reader {
public:
  explicit Reader(std::string_view bytes) : in_(bytes) {
    const std::uint64_t count = in_.count(1);
    texts_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i)
      texts_.push_back(in_.text());
  }

  template <class T>
  void operator()(const char*, T& value) {
    const bool there = masks_.back() & 1;
    masks_.back() >>= 1;
    if (there)
      read(value);
    else
      value = T{};
  }

  template <class T>
  void read_struct(T& value) {
    if (masks_.size() > kDeepest)
      throw BadBytes{};
    masks_.push_back(in_.number());
    fields(*this, value);
    if (masks_.back() != 0)
      throw BadBytes{};
    masks_.pop_back();
  }

  bool at_end() const { return in_.at_end(); }

private:
  template <class T>
  void read(T& value) {
    if constexpr (std::is_same_v<T, double>)
      in_.raw(&value, sizeof value);
    else if constexpr (std::is_same_v<T, std::string>)
      value = text(in_.number());
    else if constexpr (std::is_same_v<T, bool>)
      value = in_.number() != 0;
    else if constexpr (std::is_enum_v<T>)
      value = static_cast<T>(in_.number_up_to(last_kind<T>()));
    else if constexpr (std::is_signed_v<T>)
      value = static_cast<T>(in_.signed_number());
    else if constexpr (std::is_integral_v<T>)
      value = static_cast<T>(in_.number_up_to(std::numeric_limits<T>::max()));
    else if constexpr (std::is_same_v<T, Position>)
      read_position(value);
    else if constexpr (std::is_same_v<T, Range>)
      read_position(value.begin), read_position(value.end);
    else if constexpr (IsOptional<T>::value)
      read(value.emplace());
    else if constexpr (IsVector<T>::value)
      read_all(value);
    else
      read_struct(value);
  }

  template <class T>
  void read_all(std::vector<T>& values) {
    values.resize(in_.count(1));
    for (T& value : values)
      read(value);
  }

  void read_position(Position& place) {
    place.file = static_cast<std::uint32_t>(in_.number_up_to(UINT32_MAX));
    place.line = static_cast<std::uint32_t>(std::int64_t(last_.line) + in_.signed_number());
    place.column = static_cast<std::uint32_t>(in_.number_up_to(UINT32_MAX));
    place.offset = static_cast<std::uint32_t>(std::int64_t(last_.offset) + in_.signed_number());
    last_ = place;
  }

  const std::string_view& text(std::uint64_t index) {
    if (index >= texts_.size())
      throw BadBytes{};
    return texts_[index];
  }

  ByteReader in_;
  std::vector<std::string_view> texts_;
  std::vector<std::uint64_t> masks_;
  Position last_;
};

} // namespace

std::string to_binary(const TranslationUnit& unit) {
  Writer writer;
  writer.write_struct(const_cast<TranslationUnit&>(unit)); // only read
  return std::move(writer).finish();
}

std::optional<TranslationUnit> from_binary(std::string_view bytes) {
  try {
    Reader reader(bytes);
    TranslationUnit unit;
    reader.read_struct(unit);
    if (!reader.at_end() || !bad_index(unit).empty())
      return std::nullopt;
    return unit;
  } catch (const BadBytes&) {
    return std::nullopt;
  }
}

} // namespace reprobe::scan
