// A folder of small raw images: one file per image, one byte of label and then 3 x 32 x 32 bytes of pixels.
#pragma once

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

constexpr std::int64_t kClasses = 4;
constexpr std::int64_t kImageSize = 32;
constexpr std::size_t kPixelBytes = 3 * kImageSize * kImageSize;

struct LabelledImage {
  torch::Tensor pixels; // uint8 [3, kImageSize, kImageSize]
  std::int64_t label = 0;
};

/// Stripes whose direction is the class's, with phase, colour and noise of the image's own.
inline std::vector<char> stripes(std::int64_t label, std::uint32_t number) {
  std::mt19937 engine(1000 + number);
  const auto uniform = [&engine] { return static_cast<double>(engine()) / 4294967296.0; };
  const double angle = M_PI * static_cast<double>(label) / kClasses + 0.3 * (uniform() - 0.5);
  const double phase = 2 * M_PI * uniform();
  const double colour[3] = {uniform(), uniform(), uniform()};
  std::vector<char> bytes;
  bytes.reserve(1 + kPixelBytes);
  bytes.push_back(static_cast<char>(label));
  for (int channel = 0; channel < 3; ++channel)
    for (int row = 0; row < kImageSize; ++row)
      for (int column = 0; column < kImageSize; ++column) {
        const double wave = std::sin(0.9 * (row * std::sin(angle) + column * std::cos(angle)) + phase);
        const double value = 0.5 + 0.3 * wave * (0.4 + colour[channel]) + 0.3 * (uniform() - 0.5);
        bytes.push_back(static_cast<char>(255.0 * std::min(1.0, std::max(0.0, value))));
      }
  return bytes;
}

inline LabelledImage read_image(const std::filesystem::path& file) {
  std::vector<char> bytes(1 + kPixelBytes);
  std::ifstream in(file, std::ios::binary);
  if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
    throw std::runtime_error(file.string() + ": shorter than an image");
  LabelledImage image;
  image.label = bytes[0];
  image.pixels = torch::zeros({3, kImageSize, kImageSize}, torch::kUInt8);
  std::memcpy(image.pixels.data_ptr<std::uint8_t>(), bytes.data() + 1, kPixelBytes);
  return image;
}

/// Writes `count` images of striped patterns, one orientation per class, unless they are there already.
inline void write_example_images(const std::filesystem::path& folder, int count) {
  std::filesystem::create_directories(folder);
  for (int number = 0; number < count; ++number) {
    const auto file = folder / ("image-" + std::to_string(number) + ".raw");
    if (std::filesystem::exists(file) && std::filesystem::file_size(file) == 1 + kPixelBytes)
      continue;
    const std::vector<char> bytes = stripes(number % kClasses, static_cast<std::uint32_t>(number));
    std::ofstream out(file, std::ios::binary);
    if (!out.write(bytes.data(), static_cast<std::streamsize>(bytes.size())))
      throw std::runtime_error(file.string() + ": cannot be written");
  }
}

/// Reads all images of the folder, sorted by file name: file systems list them in any order.
inline std::vector<LabelledImage> read_images(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".raw")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty())
    throw std::runtime_error(folder.string() + ": no .raw images");
  std::vector<LabelledImage> images;
  for (const auto& file : files)
    images.push_back(read_image(file));
  return images;
}

/// The images with random crops and flips. What happens to an image depends on the seed, the epoch and the
/// image's number alone, so it is the same with any number of loading threads.
class ImageFolder : public torch::data::datasets::Dataset<ImageFolder> {
public:
  ImageFolder(std::shared_ptr<const std::vector<LabelledImage>> images, std::uint32_t seed, int epoch)
      : images_(std::move(images)), seed_(seed), epoch_(static_cast<std::uint32_t>(epoch)) {}

  torch::data::Example<> get(std::size_t index) override {
    const LabelledImage& image = images_->at(index);
    std::seed_seq example{seed_, epoch_, static_cast<std::uint32_t>(index)};
    std::mt19937 engine(example);
    return {augment(image.pixels.to(torch::kFloat32) / 255.0, engine), torch::tensor(image.label)};
  }

  std::optional<std::size_t> size() const override { return images_->size(); }

private:
  static torch::Tensor augment(torch::Tensor image, std::mt19937& engine) {
    constexpr std::int64_t kMargin = 4;
    torch::NoGradGuard no_gradients;
    image = torch::reflection_pad2d(image.unsqueeze(0), {kMargin, kMargin, kMargin, kMargin}).squeeze(0);
    // A distribution of <random> is another one in each standard library.
    const auto offset = [&] { return static_cast<std::int64_t>(engine() % (2 * kMargin + 1)); };
    const std::int64_t top = offset(), left = offset();
    image = image.narrow(1, top, kImageSize).narrow(2, left, kImageSize);
    if (engine() & 1)
      image = image.flip({2});
    return (image - 0.5) / 0.25;
  }

  std::shared_ptr<const std::vector<LabelledImage>> images_;
  std::uint32_t seed_, epoch_;
};
