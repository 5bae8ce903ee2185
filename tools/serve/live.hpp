/// Live examples: mechanisms on a few words or points, computed by the library's own functors
/// for whatever the sliders say.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace attn::serve {

struct Slider {
  std::string name;
  std::string label;
  double min;
  double max;
  double step;
  double value;  ///< to begin with
};

/// What the sliders say, by name.
using Values = std::map<std::string, double>;

struct LiveExample {
  std::string name;
  std::string title;
  std::string formula;
  std::string about;
  std::string kind;  ///< "matrix" or "curve"
  std::vector<Slider> sliders;
  /// The map of checked values.
  std::function<nlohmann::json(const Values&)> draw;
};

const std::vector<LiveExample>& live_examples();
/// Null when there is none of that name.
const LiveExample* find_live(std::string_view name);

/// An example without its map, as GET /api/live lists it.
nlohmann::json live_json(const LiveExample& example);

/// The map of an example; sliders that `values` does not name stay where they begin. A name
/// that it does not have, or a value outside its slider, is an InvalidArgument.
nlohmann::json live_map(const LiveExample& example, const Values& values = {});

// The examples by what they change.
std::vector<LiveExample> live_curves();
std::vector<LiveExample> live_scores();
std::vector<LiveExample> live_positions();
std::vector<LiveExample> live_masks();
std::vector<LiveExample> live_normalisers();

}  // namespace attn::serve
