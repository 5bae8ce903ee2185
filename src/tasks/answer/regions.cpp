#include "tasks/answer/regions.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks::vqa {
namespace {

/// Of 255, in one channel at least: more than the noise of a background.
constexpr int kContrast = 48;
/// Fewer pixels are a speck.
constexpr std::int64_t kLeastPixels = 6;

class Ground {
 public:
  explicit Ground(const Picture& picture) : picture_(picture) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      std::vector<std::uint8_t> rim;
      for (std::int64_t x = 0; x < picture.width; ++x)
        for (const std::int64_t y : {std::int64_t{0}, picture.height - 1})
          rim.push_back(at(y * picture.width + x, channel));
      for (std::int64_t y = 0; y < picture.height; ++y)
        for (const std::int64_t x : {std::int64_t{0}, picture.width - 1})
          rim.push_back(at(y * picture.width + x, channel));
      const auto middle = rim.begin() + static_cast<std::ptrdiff_t>(rim.size() / 2);
      std::nth_element(rim.begin(), middle, rim.end());
      colour_.at(channel) = *middle;
    }
  }

  bool stands_out(std::int64_t pixel) const {
    for (std::size_t channel = 0; channel < 3; ++channel)
      if (std::abs(at(pixel, channel) - colour_.at(channel)) > kContrast) return true;
    return false;
  }

 private:
  std::uint8_t at(std::int64_t pixel, std::size_t channel) const {
    return picture_.pixels[static_cast<std::size_t>(3 * pixel) + channel];
  }

  const Picture& picture_;
  std::array<int, 3> colour_{};
};

struct Thing {
  std::int64_t left, top, right, bottom;  ///< the last two beyond it
  std::int64_t pixels = 0;
};

/// What hangs together with a pixel, taken off what waits.
Thing thing_at(std::int64_t start, std::int64_t width, std::vector<bool>& waits) {
  const auto height = static_cast<std::int64_t>(waits.size()) / width;
  Thing thing{width, height, 0, 0};
  std::vector<std::int64_t> stack{start};
  waits[static_cast<std::size_t>(start)] = false;
  while (!stack.empty()) {
    const std::int64_t x = stack.back() % width;
    const std::int64_t y = stack.back() / width;
    stack.pop_back();
    thing = {std::min(thing.left, x), std::min(thing.top, y), std::max(thing.right, x + 1),
             std::max(thing.bottom, y + 1), thing.pixels + 1};
    for (std::int64_t row = std::max<std::int64_t>(0, y - 1); row < std::min(height, y + 2);
         ++row)
      for (std::int64_t column = std::max<std::int64_t>(0, x - 1);
           column < std::min(width, x + 2); ++column) {
        const std::int64_t next = row * width + column;
        if (!waits[static_cast<std::size_t>(next)]) continue;
        waits[static_cast<std::size_t>(next)] = false;
        stack.push_back(next);
      }
  }
  return thing;
}

bool meet(const Thing& a, const Thing& b) {
  return a.left <= b.right && b.left <= a.right && a.top <= b.bottom && b.top <= a.bottom;
}

/// Strokes of one thing whose boxes meet belong together.
void join(std::vector<Thing>& things) {
  for (std::size_t i = 0; i < things.size(); ++i)
    for (std::size_t j = i + 1; j < things.size(); ++j) {
      if (!meet(things[i], things[j])) continue;
      Thing& one = things[i];
      const Thing& other = things[j];
      one = {std::min(one.left, other.left), std::min(one.top, other.top),
             std::max(one.right, other.right), std::max(one.bottom, other.bottom),
             one.pixels + other.pixels};
      things.erase(things.begin() + static_cast<std::ptrdiff_t>(j));
      j = i;  // what has grown may meet those before
    }
}

}  // namespace

std::vector<Box> regions_of(const Picture& picture) {
  if (picture.channels != 3 || picture.width < 1 || picture.height < 1)
    fail("attn::tasks::vqa::regions_of: ", picture.width, " x ", picture.height, " x ",
         picture.channels, "; three channels are accepted");
  const Ground ground(picture);
  std::vector<bool> waits;
  waits.reserve(static_cast<std::size_t>(picture.width * picture.height));
  for (std::int64_t pixel = 0; pixel < picture.width * picture.height; ++pixel)
    waits.push_back(ground.stands_out(pixel));
  std::vector<Thing> things;
  for (std::size_t pixel = 0; pixel < waits.size(); ++pixel) {
    if (!waits[pixel]) continue;
    const Thing thing = thing_at(static_cast<std::int64_t>(pixel), picture.width, waits);
    if (thing.pixels >= kLeastPixels) things.push_back(thing);
  }
  std::stable_sort(things.begin(), things.end(),
                   [](const Thing& a, const Thing& b) { return a.pixels > b.pixels; });
  if (things.size() > 64)
    things.erase(things.begin() + 64, things.end());  // joining costs their square
  join(things);
  if (things.size() > kMostRegions) things.erase(things.begin() + kMostRegions, things.end());
  std::vector<Box> boxes;
  boxes.reserve(things.size());
  for (const Thing& thing : things)
    boxes.push_back(
        {"", thing.left, thing.top, thing.right - thing.left, thing.bottom - thing.top});
  if (boxes.empty()) boxes.push_back({"", 0, 0, picture.width, picture.height});
  return boxes;
}

}  // namespace attn::tasks::vqa
