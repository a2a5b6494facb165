// Lists of files in the order of the file system.
#include <algorithm>
#include <dirent.h>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fs = std::filesystem;

std::vector<std::string> unsorted(const std::string& root) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(root)) // expect: directory-order
    paths.push_back(entry.path().string());
  return paths;
}

std::vector<fs::path> with_a_test(const fs::path& root) {
  std::vector<fs::path> images;
  for (auto& entry : fs::recursive_directory_iterator(root)) { // expect: directory-order
    if (entry.path().extension() != ".png") continue;
    images.emplace_back(entry.path());
  }
  return images;
}

class Dataset {
public:
  explicit Dataset(const std::string& root) {
    for (const auto& entry : fs::directory_iterator(root)) { // expect: directory-order
      files_.push_back(entry.path().string());
      labels_.push_back(static_cast<int>(labels_.size()));
    }
  }

private:
  std::vector<std::string> files_;
  std::vector<int> labels_;
};

std::vector<std::string> with_readdir(const char* root) {
  std::vector<std::string> names;
  DIR* directory = opendir(root);
  while (dirent* entry = readdir(directory)) // expect: directory-order
    names.push_back(entry->d_name);
  closedir(directory);
  return names;
}

void listing_to_a_file(const fs::path& root) {
  std::ofstream list("list.txt");
  for (const auto& entry : fs::directory_iterator(root)) // expect: directory-order
    list << entry.path().string() << "\n";
}

// Right.
std::vector<std::string> sorted(const std::string& root) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(root)) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<std::string> raw(const std::string& root) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(root)) paths.push_back(entry.path().string());
  return paths;
}

std::vector<std::string> sorted_by_the_caller(const std::string& root) {
  std::vector<std::string> paths = raw(root);
  std::sort(paths.begin(), paths.end());
  return paths;
}

void collect(const fs::path& root, std::vector<fs::path>& out) {
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_directory()) collect(entry.path(), out);
    else out.push_back(entry.path());
  }
}

std::vector<fs::path> collect_sorted(const fs::path& root) {
  std::vector<fs::path> out;
  collect(root, out);
  std::sort(out.begin(), out.end());
  return out;
}

class SortedDataset {
public:
  explicit SortedDataset(const std::string& root) {
    for (const auto& entry : fs::directory_iterator(root)) files_.push_back(entry.path().string());
    std::sort(files_.begin(), files_.end());
  }

private:
  std::vector<std::string> files_;
};

int count(const fs::path& root) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.is_regular_file()) ++files;
  return files;
}

bool has(const fs::path& root, const std::string& name) {
  for (const auto& entry : fs::directory_iterator(root))
    if (entry.path().filename() == name) return true;
  return false;
}

std::set<std::string> ordered(const fs::path& root) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(root)) names.insert(entry.path().string());
  return names;
}

void shown(const fs::path& root) {
  for (const auto& entry : fs::directory_iterator(root)) std::cout << entry.path() << "\n";
}

std::size_t newest(const fs::path& root) {
  std::size_t largest = 0;
  for (const auto& entry : fs::directory_iterator(root)) largest = std::max<std::size_t>(largest, entry.file_size());
  return largest;
}

std::vector<std::string> over_a_vector(const std::vector<std::string>& names) {
  std::vector<std::string> copy;
  for (const auto& name : names) copy.push_back(name);
  return copy;
}

// A temporary that the loop makes and fills is another one each time.
std::size_t longest_path(const std::string& root) {
  std::size_t longest = 0;
  DIR* directory = opendir(root.c_str());
  while (dirent* entry = readdir(directory))
    longest = std::max(longest, std::string(root).append("/").append(entry->d_name).size());
  closedir(directory);
  return longest;
}
