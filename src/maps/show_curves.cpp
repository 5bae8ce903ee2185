// Curves, training runs and bars in a terminal.

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/colour.hpp"
#include "attn/maps/map.hpp"
#include "attn/maps/show.hpp"
#include "attn/maps/text_width.hpp"
#include "maps/terminal.hpp"

namespace attn::maps {
namespace {

constexpr std::size_t kMostQueries = 12;

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// Halves first: the difference of two finite numbers may be infinite.
  double share(double value) const {
    const double span = high / 2.0 - low / 2.0;
    return span > 0.0 ? (value / 2.0 - low / 2.0) / span : 0.5;
  }
};

std::size_t bin_of(double share, std::size_t bins) {
  return std::min(static_cast<std::size_t>(share * static_cast<double>(bins)), bins - 1);
}

/// The mean of y in each of `bins` parts of x as blocks of eight heights; blank where no
/// point is.
std::string sparkline(const std::vector<double>& x, const std::vector<double>& y,
                      const Extent& across, std::size_t bins) {
  constexpr std::string_view kHeights[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::vector<double> total(bins);
  std::vector<double> count(bins);
  Extent all;
  for (const double value : y) all.take(value);
  for (std::size_t i = 0; i < x.size(); ++i) {
    total[bin_of(across.share(x[i]), bins)] += all.share(y[i]);
    count[bin_of(across.share(x[i]), bins)] += 1.0;
  }
  std::string text;
  for (std::size_t i = 0; i < bins; ++i)
    text += count[i] > 0.0 ? kHeights[bin_of(total[i] / count[i], 8)] : " ";
  return text;
}

std::string axis_line(const Extent& across, const std::string& title, std::size_t margin,
                      std::size_t room) {
  const std::string low = short_number(across.low);
  const std::string high = short_number(across.high);
  const std::size_t ends = low.size() + high.size() + 2;
  const std::string middle =
      room > ends ? cut_to(on_one_line(title), room - ends) : std::string();
  const std::size_t free = room - std::min(room, low.size() + high.size() + width_of(middle));
  return std::string(margin + 1, ' ') +
         cut_to(low + std::string(free / 2, ' ') + middle + std::string(free - free / 2, ' ') +
                    high,
                room) +
         '\n';
}

}  // namespace

std::string show_curve(const Curve& map, std::size_t width, Colour colour) {
  if (map.points.empty()) return {};
  Extent across;
  std::vector<double> x;
  std::vector<double> y;
  for (const Point& point : map.points) {
    across.take(point.x);
    x.push_back(point.x);
    y.push_back(point.y);
  }
  for (const double query : map.queries) across.take(query);
  const std::size_t margin = std::min<std::size_t>(16, width / 4);
  const std::size_t room = width - margin - 1;
  std::string text = right_in(map.y_title.empty() ? "y" : on_one_line(map.y_title), margin) +
                     ' ' + sparkline(x, y, across, room) + '\n';
  for (const Line& line : map.lines)
    text += right_in(on_one_line(line.name), margin) + ' ' +
            sparkline(line.x, line.y, across, room) + '\n';
  const float top = top_of(map.weights);
  const std::size_t shown = std::min(map.queries.size(), kMostQueries);
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t query = i * map.queries.size() / shown;
    std::vector<float> bins(room);
    for (std::size_t j = 0; j < x.size(); ++j) {
      float& bin = bins[bin_of(across.share(x[j]), room)];
      bin = std::max(bin, map.weights.at(query, j));
    }
    text += right_in("at " + short_number(map.queries[query]), margin) + ' ';
    for (const float weight : bins) text += cell(" ", weight / top, colour);
    text += '\n';
  }
  text += axis_line(across, map.x_title, margin, room);
  return shown > 0 ? text + legend(top, width, colour) : text;
}

std::string show_training(const Training& map, std::size_t width) {
  Extent across;
  for (const Series& series : map.series)
    for (const double x : series.x) across.take(x);
  if (across.low > across.high) return {};
  const std::size_t margin = std::min<std::size_t>(16, width / 4);
  const std::size_t ends = std::min<std::size_t>(24, width / 4);
  const std::size_t room = width - margin - ends - 2;
  std::string text;
  for (const Series& series : map.series) {
    if (series.x.empty()) continue;
    text +=
        right_in(on_one_line(series.name), margin) + ' ' +
        sparkline(series.x, series.y, across, room) + ' ' +
        cut_to(short_number(series.y.front()) + " → " + short_number(series.y.back()), ends) +
        '\n';
  }
  text += axis_line(across, map.x_title, margin, room);
  for (const Mark& mark : map.marks)
    if (!mark.label.empty()) text += cut_to(on_one_line(mark.label), width) + '\n';
  return text;
}

std::string show_bars(const Bars& map, std::size_t width) {
  double largest = 0.0;
  for (const BarSeries& series : map.series)
    for (const double value : series.values) largest = std::max(largest, std::fabs(value));
  const std::size_t margin = std::min<std::size_t>(20, width / 3);
  const std::size_t room = width - margin - 13;
  std::string text;
  for (std::size_t group = 0; group < map.groups.size(); ++group) {
    text += cut_to(on_one_line(map.groups[group]), width) + '\n';
    for (const BarSeries& series : map.series) {
      const double value = series.values[group];
      const auto length = static_cast<std::size_t>(std::lround(
          largest > 0.0 ? std::fabs(value) / largest * static_cast<double>(room) : 0.0));
      text += right_in(on_one_line(series.name), margin) + ' ';
      // A bar below zero is another shade, because it also goes to the right.
      for (std::size_t i = 0; i < length; ++i) text += value < 0.0 ? "▒" : "█";
      text += (length > 0 ? " " : "") + short_number(value) + '\n';
    }
  }
  if (!text.empty() && !map.value_title.empty())
    text += cut_to(on_one_line(map.value_title), width) + '\n';
  return text;
}

}  // namespace attn::maps
