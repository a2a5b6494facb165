#include "analyzer/scan/facts/observations.h"

#include <algorithm>

namespace reprobe::scan {
namespace {

// Sorted paths share their beginnings.
class PathWriter {
public:
  explicit PathWriter(Bytes& out) : out_(out) {}
  void write(const std::string& path) {
    const std::size_t most = std::min(path.size(), last_.size());
    const std::size_t shared =
        static_cast<std::size_t>(std::mismatch(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(most),
                                               last_.begin()).first - path.begin());
    out_.number(shared);
    out_.text(std::string_view(path).substr(shared));
    last_ = path;
  }

private:
  Bytes& out_;
  std::string last_;
};

class PathReader {
public:
  explicit PathReader(ByteReader& in) : in_(in) {}
  const std::string& read() {
    const std::uint64_t shared = in_.number_up_to(last_.size());
    last_.resize(shared);
    last_ += in_.text();
    return last_;
  }

private:
  ByteReader& in_;
  std::string last_;
};

void write_digests(Bytes& out, const std::map<std::string, Digest>& digests) {
  out.number(digests.size());
  PathWriter paths(out);
  for (const auto& [path, digest] : digests) {
    paths.write(path);
    out.raw(&digest, sizeof digest);
  }
}

std::map<std::string, Digest> read_digests(ByteReader& in) {
  std::map<std::string, Digest> out;
  PathReader paths(in);
  for (std::uint64_t left = in.count(2 + sizeof(Digest)); left > 0; --left) {
    Digest& digest = out.emplace_hint(out.end(), paths.read(), Digest{})->second;
    in.raw(&digest, sizeof digest);
  }
  return out;
}

void write_paths(Bytes& out, const std::set<std::string>& all) {
  out.number(all.size());
  PathWriter paths(out);
  for (const std::string& path : all)
    paths.write(path);
}

std::set<std::string> read_paths(ByteReader& in) {
  std::set<std::string> out;
  PathReader paths(in);
  for (std::uint64_t left = in.count(2); left > 0; --left)
    out.insert(out.end(), paths.read());
  return out;
}

bool lies_below(const std::string& path, const std::string& folder) {
  return path.size() > folder.size() && path.starts_with(folder) && (path[folder.size()] == '/' || folder.ends_with('/'));
}

template <class Container>
void move_below(const std::string& folder, Container& from, Container& to) {
  const auto path_of = [](const auto& element) -> const std::string& {
    if constexpr (requires { element.first; })
      return element.first;
    else
      return element;
  };
  for (auto next = from.lower_bound(folder); next != from.end() && path_of(*next).starts_with(folder);) {
    const auto current = next++;
    if (path_of(*current) == folder || lies_below(path_of(*current), folder))
      to.insert(to.end(), from.extract(current));
  }
}

} // namespace

void Observations::write(Bytes& out) const {
  write_digests(out, files);
  out.number(absent.size());
  for (const auto& [folder, names] : absent) {
    out.text(folder);
    write_paths(out, names);
  }
  write_digests(out, listings);
  write_paths(out, folders);
  write_paths(out, present);
  out.number(same_file.size());
  for (const auto& paths : same_file)
    write_paths(out, paths);
}

Observations Observations::read(ByteReader& in) {
  Observations out;
  out.files = read_digests(in);
  for (std::uint64_t left = in.count(2); left > 0; --left) {
    const std::string folder(in.text());
    out.absent[folder] = read_paths(in);
  }
  out.listings = read_digests(in);
  out.folders = read_paths(in);
  out.present = read_paths(in);
  for (std::uint64_t left = in.count(1); left > 0; --left)
    out.same_file.push_back(read_paths(in));
  return out;
}

void Observations::add(Observations more) {
  complete = complete && more.complete;
  for (const auto& [path, digest] : more.files) // a file that changed meanwhile is not to be relied on
    complete = complete && files.try_emplace(path, digest).first->second == digest;
  for (auto& [folder, names] : more.absent)
    absent[folder].merge(names);
  listings.merge(more.listings);
  folders.merge(more.folders);
  present.merge(more.present);
  for (auto& paths : more.same_file)
    if (std::find(same_file.begin(), same_file.end(), paths) == same_file.end())
      same_file.push_back(std::move(paths));
}

Observations Observations::split_off_below(const std::string& folder) {
  Observations out;
  move_below(folder, files, out.files);
  move_below(folder, absent, out.absent);
  move_below(folder, listings, out.listings);
  move_below(folder, folders, out.folders);
  move_below(folder, present, out.present);
  return out;
}

Digest digest_of_names(const std::set<std::string>& names) {
  Digester digester;
  for (const std::string& name : names)
    digester.add(name);
  return digester.finish();
}

} // namespace reprobe::scan
