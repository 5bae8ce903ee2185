#include "tasks/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/value.hpp"

namespace attn::tasks {
namespace {

/// Which pixels of one side lie under a pixel of the result, and how much of each.
struct Share {
  std::int64_t first = 0;
  std::vector<float> shares;  ///< sum to 1
};

/// `wanted` pixels in the place of `extent`.
std::vector<Share> shares_of(std::int64_t extent, std::int64_t wanted) {
  const double step = static_cast<double>(extent) / static_cast<double>(wanted);
  std::vector<Share> all;
  for (std::int64_t i = 0; i < wanted; ++i) {
    const double begin = static_cast<double>(i) * step;
    const double end = begin + step;
    Share& share = all.emplace_back();
    share.first = std::min(extent - 1, static_cast<std::int64_t>(begin));
    for (std::int64_t at = share.first; at < extent && static_cast<double>(at) < end; ++at) {
      const double covered =
          std::min(end, static_cast<double>(at + 1)) - std::max(begin, static_cast<double>(at));
      if (covered > 0.0 || share.shares.empty())
        share.shares.push_back(static_cast<float>(covered / step));
    }
  }
  return all;
}

/// The middle of each channel around the edge.
std::vector<std::uint8_t> colour_of_rim(const Picture& picture) {
  const auto channels = static_cast<std::size_t>(picture.channels);
  std::vector<std::uint8_t> colour;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    std::vector<std::uint8_t> rim;
    const auto take = [&](std::int64_t x, std::int64_t y) {
      rim.push_back(
          picture.pixels[static_cast<std::size_t>(y * picture.width + x) * channels + channel]);
    };
    for (std::int64_t x = 0; x < picture.width; ++x) {
      take(x, 0);
      take(x, picture.height - 1);
    }
    for (std::int64_t y = 0; y < picture.height; ++y) {
      take(0, y);
      take(picture.width - 1, y);
    }
    const auto middle = rim.begin() + static_cast<std::ptrdiff_t>(rim.size() / 2);
    std::nth_element(rim.begin(), middle, rim.end());
    colour.push_back(*middle);
  }
  return colour;
}

/// Each row is made shorter, then rows are summed as they come: no copy of a large picture.
Picture scaled(const Picture& picture, std::int64_t width, std::int64_t height) {
  const auto channels = static_cast<std::size_t>(picture.channels);
  const std::vector<Share> across = shares_of(picture.width, width);
  const std::vector<Share> down = shares_of(picture.height, height);
  Picture small{width, height, picture.channels, {}};
  std::vector<float> row(static_cast<std::size_t>(width) * channels);
  for (const Share& rows : down) {
    std::fill(row.begin(), row.end(), 0.0F);
    for (std::size_t y = 0; y < rows.shares.size(); ++y) {
      const std::uint8_t* from =
          &picture.pixels[(static_cast<std::size_t>(rows.first) + y) *
                          static_cast<std::size_t>(picture.width) * channels];
      for (std::size_t x = 0; x < across.size(); ++x)
        for (std::size_t i = 0; i < across[x].shares.size(); ++i)
          for (std::size_t channel = 0; channel < channels; ++channel)
            row[x * channels + channel] +=
                rows.shares[y] * across[x].shares[i] *
                static_cast<float>(
                    from[(static_cast<std::size_t>(across[x].first) + i) * channels + channel]);
    }
    for (const float value : row)
      small.pixels.push_back(
          static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0F, 255.0F))));
  }
  return small;
}

}  // namespace

std::string colours_refusal(const Picture& picture) {
  if (picture.channels == 1 || picture.channels == 3) return "";
  return "has " + std::to_string(picture.channels) +
         " channels; grey (1) and red, green and blue (3) are accepted";
}

Picture picture_in_request(const nlohmann::json& picture) {
  constexpr const char* kWhere = "the field \"picture\"";
  try {
    Value value = value_of(picture, kWhere);
    if (auto* pixels = std::get_if<Picture>(&value)) return std::move(*pixels);
  } catch (const FileError& error) {
    fail(error.what());
  }
  fail(kWhere,
       " must be an object with width, height, channels (1 or 3) and pixels, in base64");
}

std::vector<std::uint8_t> grey_of(const Picture& picture) {
  if (picture.channels == 1) return picture.pixels;
  if (const std::string problem = colours_refusal(picture); !problem.empty())
    fail("attn::tasks::grey_of: the picture ", problem);
  std::vector<std::uint8_t> grey;
  grey.reserve(picture.pixels.size() / 3);
  for (std::size_t i = 0; i + 2 < picture.pixels.size(); i += 3) {
    const unsigned light =
        299U * picture.pixels[i] + 587U * picture.pixels[i + 1] + 114U * picture.pixels[i + 2];
    grey.push_back(static_cast<std::uint8_t>((light + 500U) / 1000U));
  }
  return grey;
}

Picture in_colour(const Picture& picture) {
  if (picture.channels == 3) return picture;
  if (const std::string problem = colours_refusal(picture); !problem.empty())
    fail("attn::tasks::in_colour: the picture ", problem);
  Picture colour{picture.width, picture.height, 3, {}};
  colour.pixels.reserve(picture.pixels.size() * 3);
  for (const std::uint8_t grey : picture.pixels)
    colour.pixels.insert(colour.pixels.end(), 3, grey);
  return colour;
}

Picture fitted(const Picture& picture, std::int64_t side) {
  if (side < 1 || picture.width < 1 || picture.height < 1)
    fail("attn::tasks::fitted: ", picture.width, " x ", picture.height, " pixels into ", side);
  if (picture.width == side && picture.height == side) return picture;
  const std::int64_t longest = std::max(picture.width, picture.height);
  const auto part = [&](std::int64_t extent) {
    return std::max<std::int64_t>(1, (extent * side + longest / 2) / longest);
  };
  Picture small = scaled(picture, part(picture.width), part(picture.height));
  if (small.width == side && small.height == side) return small;
  const auto channels = static_cast<std::size_t>(picture.channels);
  const std::vector<std::uint8_t> rim = colour_of_rim(picture);
  Picture square{side, side, picture.channels, {}};
  for (std::int64_t i = 0; i < side * side; ++i)
    square.pixels.insert(square.pixels.end(), rim.begin(), rim.end());
  const std::int64_t left = (side - small.width) / 2;
  const std::int64_t top = (side - small.height) / 2;
  for (std::int64_t y = 0; y < small.height; ++y)
    std::copy_n(&small.pixels[static_cast<std::size_t>(y * small.width) * channels],
                static_cast<std::size_t>(small.width) * channels,
                &square.pixels[static_cast<std::size_t>((y + top) * side + left) * channels]);
  return square;
}

}  // namespace attn::tasks
