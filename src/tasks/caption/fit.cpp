// Fits a picture of any size and colour to the square that a model of digits reads.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/fit_picture.hpp"

namespace attn::tasks {
namespace {

/// What captioners learn from is 13 to 22 pixels tall.
constexpr PictureFit kCanvasFit{
    .side = kCanvasSide, .least_thing = 11.0, .largest_thing = 24.0, .wanted_thing = 17.0};

constexpr std::int64_t kMostPictureSide = 16384;
constexpr std::uint8_t kInkOfPictures = 96;  ///< of 255, after contrast is stretched
constexpr double kRim = 2.0;                 ///< free at the edges when ink is fitted
/// Pictures with less between darkest and lightest have nothing on them.
constexpr int kLeastContrast = 24;

/// A picture of doubles would be eight times as large; bytes do.
struct Grey {
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::vector<std::uint8_t> pixels;

  std::uint8_t at(std::int64_t x, std::int64_t y) const {
    return pixels[static_cast<std::size_t>(y * width + x)];
  }
};

struct Area {
  double x = 0.0;
  double y = 0.0;
  double width = 0.0;
  double height = 0.0;
};

std::uint8_t middle_of_rim(const Grey& picture) {
  std::vector<std::uint8_t> rim;
  for (std::int64_t x = 0; x < picture.width; ++x) {
    rim.push_back(picture.at(x, 0));
    rim.push_back(picture.at(x, picture.height - 1));
  }
  for (std::int64_t y = 0; y < picture.height; ++y) {
    rim.push_back(picture.at(0, y));
    rim.push_back(picture.at(picture.width - 1, y));
  }
  const auto middle = rim.begin() + static_cast<std::ptrdiff_t>(rim.size() / 2);
  std::nth_element(rim.begin(), middle, rim.end());
  return *middle;
}

/// Ink light on dark, from 0 to 255.
void to_ink(Grey& picture) {
  if (middle_of_rim(picture) > 127)
    for (std::uint8_t& pixel : picture.pixels) pixel = static_cast<std::uint8_t>(255 - pixel);
  const int floor = middle_of_rim(picture);
  const int most = *std::max_element(picture.pixels.begin(), picture.pixels.end());
  // Already as models know it.
  if (floor <= 32 && most >= 192) return;
  const int range = most - floor;
  for (std::uint8_t& pixel : picture.pixels)
    pixel = range < kLeastContrast
                ? std::uint8_t{0}
                : static_cast<std::uint8_t>(std::max(0, pixel - floor) * 255 / range);
}

/// The mean of an area, which may reach beyond the picture: there is nothing there.
double mean_of(const Grey& picture, const Area& area) {
  double sum = 0.0;
  const auto first = [](double from) { return static_cast<std::int64_t>(std::floor(from)); };
  const std::int64_t bottom = std::min(picture.height, first(area.y + area.height) + 1);
  const std::int64_t right = std::min(picture.width, first(area.x + area.width) + 1);
  for (std::int64_t y = std::max<std::int64_t>(0, first(area.y)); y < bottom; ++y) {
    const auto top = static_cast<double>(y);
    const double down = std::min(top + 1.0, area.y + area.height) - std::max(top, area.y);
    if (down <= 0.0) continue;
    for (std::int64_t x = std::max<std::int64_t>(0, first(area.x)); x < right; ++x) {
      const auto left = static_cast<double>(x);
      const double across = std::min(left + 1.0, area.x + area.width) - std::max(left, area.x);
      if (across > 0.0) sum += down * across * static_cast<double>(picture.at(x, y));
    }
  }
  return sum / (area.width * area.height);
}

/// The canvas that shows `middle` in its middle, a pixel of it being `pixel` of the picture.
Grey drawn(const Grey& picture, std::int64_t side, double middle_x, double middle_y,
           double pixel) {
  Grey canvas{side, side, {}};
  const double half = static_cast<double>(side) / 2.0;
  for (std::int64_t y = 0; y < side; ++y)
    for (std::int64_t x = 0; x < side; ++x) {
      const Area area{middle_x + (static_cast<double>(x) - half) * pixel,
                      middle_y + (static_cast<double>(y) - half) * pixel, pixel, pixel};
      canvas.pixels.push_back(static_cast<std::uint8_t>(std::lround(mean_of(picture, area))));
    }
  return canvas;
}

struct Ink {
  Area around{};         ///< everything
  double tallest = 0.0;  ///< of what hangs together
};

/// Fills what hangs together with (x, y) and gives the rows it takes.
double height_of_thing(const Grey& canvas, std::vector<bool>& seen, std::int64_t start) {
  std::vector<std::int64_t> waiting{start};
  seen[static_cast<std::size_t>(start)] = true;
  std::int64_t top = start / canvas.width;
  std::int64_t bottom = top;
  while (!waiting.empty()) {
    const std::int64_t at = waiting.back();
    waiting.pop_back();
    const std::int64_t column = at % canvas.width;
    const std::int64_t row = at / canvas.width;
    top = std::min(top, row);
    bottom = std::max(bottom, row);
    for (std::int64_t y = std::max<std::int64_t>(0, row - 1);
         y <= std::min(canvas.height - 1, row + 1); ++y)
      for (std::int64_t x = std::max<std::int64_t>(0, column - 1);
           x <= std::min(canvas.width - 1, column + 1); ++x) {
        const std::int64_t next = y * canvas.width + x;
        if (canvas.at(x, y) < kInkOfPictures || seen[static_cast<std::size_t>(next)]) continue;
        seen[static_cast<std::size_t>(next)] = true;
        waiting.push_back(next);
      }
  }
  return static_cast<double>(bottom - top + 1);
}

Ink ink_on(const Grey& canvas) {
  Ink ink;
  std::int64_t left = canvas.width;
  std::int64_t right = -1;
  std::int64_t top = canvas.height;
  std::int64_t bottom = -1;
  std::vector<bool> seen(canvas.pixels.size(), false);
  for (std::int64_t i = 0; i < canvas.width * canvas.height; ++i) {
    const std::int64_t x = i % canvas.width;
    const std::int64_t y = i / canvas.width;
    if (canvas.at(x, y) < kInkOfPictures) continue;
    left = std::min(left, x);
    right = std::max(right, x);
    top = std::min(top, y);
    bottom = std::max(bottom, y);
    if (!seen[static_cast<std::size_t>(i)])
      ink.tallest = std::max(ink.tallest, height_of_thing(canvas, seen, i));
  }
  if (right >= 0)
    ink.around = {static_cast<double>(left), static_cast<double>(top),
                  static_cast<double>(right - left + 1), static_cast<double>(bottom - top + 1)};
  return ink;
}

}  // namespace

std::vector<std::uint8_t> fit_picture(std::span<const std::uint8_t> grey, std::int64_t width,
                                      std::int64_t height, const PictureFit& fit) {
  if (width < 1 || height < 1 ||
      static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) != grey.size())
    fail("attn::tasks::fit_picture: ", grey.size(), " bytes for ", width, " x ", height);
  Grey picture{width, height, {grey.begin(), grey.end()}};
  to_ink(picture);
  const auto side = static_cast<double>(fit.side);
  const double pixel = static_cast<double>(std::max(width, height)) / side;
  const double middle_x = static_cast<double>(width) / 2.0;
  const double middle_y = static_cast<double>(height) / 2.0;
  Grey canvas = width == fit.side && height == fit.side
                    ? picture
                    : drawn(picture, fit.side, middle_x, middle_y, pixel);
  const Ink ink = ink_on(canvas);
  const bool readable = ink.tallest >= fit.least_thing && ink.tallest <= fit.largest_thing;
  if (ink.tallest <= 0.0 || readable) return canvas.pixels;
  // The ink of the picture itself in the middle, its tallest thing as tall as a digit, unless
  // everything would then not fit.
  const double room = side - 2.0 * kRim;
  const double larger = std::min(
      {fit.wanted_thing / ink.tallest, room / ink.around.width, room / ink.around.height});
  canvas = drawn(picture, fit.side,
                 middle_x + (ink.around.x + ink.around.width / 2.0 - side / 2.0) * pixel,
                 middle_y + (ink.around.y + ink.around.height / 2.0 - side / 2.0) * pixel,
                 pixel / larger);
  return canvas.pixels;
}

std::string picture_problem(const Picture& picture) {
  if (picture.channels != 1 && picture.channels != 3)
    return "has " + std::to_string(picture.channels) +
           " channels; grey is accepted, and red, green and blue";
  const std::int64_t width = picture.width;
  const std::int64_t height = picture.height;
  if (width >= 1 && height >= 1 && width <= kMostPictureSide && height <= kMostPictureSide &&
      picture.pixels.size() == static_cast<std::size_t>(width * height * picture.channels))
    return "";
  return "is of " + std::to_string(width) + " x " + std::to_string(height) + " pixels with " +
         std::to_string(picture.pixels.size()) + " bytes; up to " +
         std::to_string(kMostPictureSide) + " on a side are accepted, a byte for each channel";
}

std::vector<std::uint8_t> fit_to_canvas(std::span<const std::uint8_t> grey, std::int64_t width,
                                        std::int64_t height) {
  return fit_picture(grey, width, height, kCanvasFit);
}

}  // namespace attn::tasks
