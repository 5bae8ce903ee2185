// SPDX-License-Identifier: Apache-2.0

#include "attn/maps/colour.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>

#include "attn/maps/map.hpp"

namespace attn::maps {
namespace {

constexpr std::size_t kSteps = 256;

/// OKLab (Ottosson, 2020) in linear red, green and blue.
std::array<double, 3> linear_of(double lightness, double chroma, double degrees) {
  const double angle = degrees * std::numbers::pi / 180.0;
  const double a = chroma * std::cos(angle);
  const double b = chroma * std::sin(angle);
  const double l = std::pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3.0);
  const double m = std::pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3.0);
  const double s = std::pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3.0);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool can_be_shown(const std::array<double, 3>& linear) {
  return std::all_of(linear.begin(), linear.end(),
                     [](double part) { return part >= 0.0 && part <= 1.0; });
}

std::uint8_t encoded(double part) {
  const double curved =
      part <= 0.0031308 ? 12.92 * part : 1.055 * std::pow(part, 1.0 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255.0 * std::clamp(curved, 0.0, 1.0)));
}

double decoded(std::uint8_t part) {
  const double value = part / 255.0;
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

/// Lightness falls evenly; the hue turns from sky to indigo, and the chroma is as much of a
/// smooth arch as a screen can show at that lightness.
Rgb made(double weight) {
  const double lightness = 0.985 - 0.705 * weight;
  const double hue = 225.0 + 50.0 * weight;
  double chroma = 0.02 * (1.0 - weight) + 0.15 * std::sin(std::numbers::pi * weight * 0.85);
  if (weight == 0.0) chroma = 0.004;
  auto linear = linear_of(lightness, chroma, hue);
  while (!can_be_shown(linear) && chroma > 0.0) {
    chroma -= 0.001;
    linear = linear_of(lightness, std::max(chroma, 0.0), hue);
  }
  return {encoded(linear[0]), encoded(linear[1]), encoded(linear[2])};
}

const std::array<Rgb, kSteps>& table() {
  static const std::array<Rgb, kSteps> kTable = [] {
    std::array<Rgb, kSteps> colours;
    for (std::size_t i = 0; i < kSteps; ++i)
      colours[i] = made(static_cast<double>(i) / (kSteps - 1));
    return colours;
  }();
  return kTable;
}

}  // namespace

Rgb colour_of(float weight) {
  // A NaN fails the first comparison and takes the colour of nothing.
  const float inside = weight > 0.0f ? std::min(weight, 1.0f) : 0.0f;
  return table()[static_cast<std::size_t>(std::lround(inside * (kSteps - 1)))];
}

Rgb colour_of(float weight, float top) {
  return colour_of(top > 0.0f ? weight / top : 0.0f);
}

double luminance(Rgb colour) {
  return 0.2126 * decoded(colour.red) + 0.7152 * decoded(colour.green) +
         0.0722 * decoded(colour.blue);
}

Rgb text_on(Rgb background) {
  const double light = luminance(background);
  const double with_white = 1.05 / (light + 0.05);
  const double with_black = (light + 0.05) / 0.05;
  return with_white > with_black ? Rgb{255, 255, 255} : Rgb{0, 0, 0};
}

float top_of(float largest) {
  if (!(largest > 0.0f) || largest > 0.5f) return 1.0f;
  const double unit = std::pow(10.0, std::floor(std::log10(largest)));
  for (const double step : {1.0, 2.0, 5.0, 10.0})
    if (largest <= step * unit * (1.0 + 1e-6)) return static_cast<float>(step * unit);
  return 1.0f;
}

float top_of(const Matrix& weights) {
  float largest = 0.0f;
  for (const float weight : weights.values) largest = std::max(largest, weight);
  return top_of(largest);
}

}  // namespace attn::maps
