#include "tools/serve/live.hpp"

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::serve {
namespace {

std::vector<LiveExample> all_examples() {
  std::vector<LiveExample> all;
  for (auto part : {live_curves, live_scores, live_masks, live_positions, live_normalisers}) {
    std::vector<LiveExample> some = part();
    all.insert(all.end(), std::make_move_iterator(some.begin()),
               std::make_move_iterator(some.end()));
  }
  return all;
}

}  // namespace

const std::vector<LiveExample>& live_examples() {
  static const std::vector<LiveExample> kAll = all_examples();
  return kAll;
}

const LiveExample* find_live(std::string_view name) {
  for (const LiveExample& one : live_examples())
    if (one.name == name) return &one;
  return nullptr;
}

nlohmann::json live_json(const LiveExample& example) {
  auto sliders = nlohmann::json::array();
  for (const Slider& slider : example.sliders)
    sliders.push_back({{"name", slider.name},
                       {"label", slider.label},
                       {"min", slider.min},
                       {"max", slider.max},
                       {"step", slider.step},
                       {"value", slider.value}});
  return {{"name", example.name},   {"title", example.title}, {"formula", example.formula},
          {"about", example.about}, {"kind", example.kind},   {"sliders", std::move(sliders)}};
}

nlohmann::json live_map(const LiveExample& example, const Values& values) {
  Values checked;
  for (const Slider& slider : example.sliders) checked[slider.name] = slider.value;
  for (const auto& [name, value] : values) {
    const auto known = checked.find(name);
    if (known == checked.end())
      fail("the example ", example.name, " has no slider ", files::in_quotes(name));
    known->second = value;
  }
  for (const Slider& slider : example.sliders) {
    const double value = checked[slider.name];
    if (!(value >= slider.min && value <= slider.max))
      fail("the slider ", slider.name, " of ", example.name, " is at ", value, "; ", slider.min,
           " to ", slider.max, " are accepted");
  }
  return example.draw(checked);
}

}  // namespace attn::serve
