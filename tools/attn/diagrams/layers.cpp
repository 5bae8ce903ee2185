// Layers over a sequence: three architectures side by side, several heads, a whole Transformer.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "attn/maps/map.hpp"
#include "tools/attn/diagrams/diagrams.hpp"
#include "tools/attn/lessons/lesson.hpp"

namespace attn::tools {
namespace {

using maps::Part;
using maps::Role;

constexpr std::size_t kPlaces = 5;

struct Sequence {
  std::vector<Part> inputs;
  std::vector<Part> outputs;
};

Sequence sequence(Sheet& sheet, double x, const std::string& name,
                  const std::vector<double>& numbers) {
  Sequence all;
  sheet.heading(x + 95.0, 12.0, name);
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const double left = x + 40.0 * static_cast<double>(i);
    const std::string index = std::to_string(i + 1);
    all.outputs.push_back(sheet.part(left, 36.0, 30.0, 26.0, "y" + index, Role::output));
    all.inputs.push_back(sheet.part(left, 136.0, 30.0, 26.0, "x" + index, Role::key));
  }
  sheet.note(x + 95.0, 186.0, fmt::format("operations: {:.0f}", numbers[0]));
  sheet.note(x + 95.0, 204.0, fmt::format("sequential steps: {:.0f}", numbers[1]));
  sheet.note(x + 95.0, 222.0, fmt::format("layers to join the ends: {:.0f}", numbers[2]));
  return all;
}

}  // namespace

maps::Diagram architectures_diagram() {
  const LessonTable cost = cost_lesson().tables[2];
  Sheet sheet("Convolution, recurrence, self-attention",
              "Which inputs one layer lets an output see. A convolution sees its neighbours; a "
              "recurrent layer passes a state from place to place and has to wait; in "
              "self-attention every output sees every input at once. The numbers are of 64 "
              "places and 64 channels.");
  const Sequence conv = sequence(sheet, 0.0, "convolution", cost.row("convolution"));
  for (std::size_t i = 0; i < kPlaces; ++i)
    for (std::size_t j = i == 0 ? 0 : i - 1; j <= std::min(i + 1, kPlaces - 1); ++j)
      sheet.arrow({above(conv.inputs[j]), below(conv.outputs[i])}, Role::value);
  const Sequence chain = sequence(sheet, 235.0, "recurrent", cost.row("recurrent"));
  std::vector<Part> states;
  for (std::size_t i = 0; i < kPlaces; ++i) {
    states.push_back(sheet.part(chain.inputs[i].x + 2.0, 86.0, 26.0, 26.0, "h", Role::query));
    sheet.arrow({above(chain.inputs[i]), below(states[i])}, Role::value);
    sheet.arrow({above(states[i]), below(chain.outputs[i])}, Role::value);
    if (i > 0) sheet.arrow({right_of(states[i - 1]), left_of(states[i])}, Role::query);
  }
  const Sequence self = sequence(sheet, 470.0, "self-attention", cost.row("self-attention"));
  for (std::size_t i = 0; i < kPlaces; ++i)
    for (std::size_t j = 0; j < kPlaces; ++j)
      sheet.arrow({above(self.inputs[j]), below(self.outputs[i])}, Role::value);
  return sheet.take();
}

maps::Diagram multi_head_diagram() {
  constexpr int kDim = 64;
  constexpr int kHeads = 2;
  const LessonTable sizes = heads_lesson().tables[2];
  const std::vector<double>& size = sizes.row(std::to_string(kHeads));
  Sheet sheet(
      "Multi-head attention",
      fmt::format("Queries, keys and values of {} channels are projected and cut into {} "
                  "heads of {:.0f} channels; each looks on its own; what they read is "
                  "joined and projected once more. All four matrices together have "
                  "{:.0f} numbers, for any number of heads.",
                  kDim, kHeads, size[0], size[1]));
  const std::string whole = fmt::format("[n, {}]", kDim);
  const std::string share = fmt::format("[n, {:.0f}]", size[0]);
  const Part output = sheet.part(220.0, 0.0, 130.0, 40.0, "W_o", Role::output, whole);
  const Part joined = sheet.part(185.0, 70.0, 200.0, 36.0, "join", Role::plain, whole);
  sheet.arrow({above(joined), below(output)}, Role::output);
  const std::vector<Role> roles{Role::query, Role::key, Role::value};
  const std::vector<std::string> names{"Q", "K", "V"};
  std::vector<Part> inputs;
  for (std::size_t i = 0; i < names.size(); ++i)
    // Few, and their number is not known before.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    inputs.push_back(sheet.part(160.0 + 90.0 * static_cast<double>(i), 330.0, 70.0, 38.0,
                                names[i], roles[i], whole));
  for (int head = 0; head < kHeads; ++head) {
    const double x = 295.0 * head;
    const std::string index = std::to_string(head + 1);
    const Part look = sheet.part(x + 20.0, 140.0, 235.0, 44.0, "scaled dot, softmax, pool",
                                 Role::score, "head " + index);
    sheet.arrow({above(look), {head == 0 ? 235.0 : 335.0, below(joined).y}}, Role::score);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double left = x + 20.0 + 82.0 * static_cast<double>(i);
      const Part projection =
          sheet.part(left, 224.0, 71.0, 38.0, "W_" + std::string{"qkv"[i]}, roles[i], share);
      sheet.arrow({above(inputs[i]), below(projection)}, roles[i]);
      sheet.arrow({above(projection), {above(projection).x, below(look).y}}, roles[i]);
    }
  }
  return sheet.take();
}

maps::Diagram transformer_diagram() {
  Sheet sheet(
      "The Transformer",
      "Left the encoder, right the decoder; each is repeated several times. Around every "
      "box runs a residual sum with a norm. The encoder's states are keys and values for "
      "the decoder; its own self-attention is causal.");
  const auto column = [&](double x, const std::vector<std::pair<std::string, Role>>& boxes,
                          const std::string& detail) {
    std::vector<Part> parts;
    double y = 330.0;
    for (const auto& [name, role] : boxes) {
      parts.push_back(sheet.part(x, y, 170.0, 40.0, name, role, detail));
      y -= 66.0;
    }
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
      sheet.arrow({above(parts[i]), below(parts[i + 1])});
    return parts;
  };
  const std::string sum = "norm(x + …)";
  sheet.heading(85.0, 208.0, "encoder, N ×");
  sheet.heading(415.0, 100.0, "decoder, N ×");
  const std::vector<Part> encoder =
      column(0.0, {{"self-attention", Role::score}, {"feed-forward", Role::value}}, sum);
  const std::vector<Part> decoder = column(330.0,
                                           {{"causal self-attention", Role::score},
                                            {"attention over the source", Role::score},
                                            {"feed-forward", Role::value}},
                                           sum);
  const Part source =
      sheet.part(0.0, 410.0, 170.0, 40.0, "words + positions", Role::key, "source");
  const Part target =
      sheet.part(330.0, 410.0, 170.0, 40.0, "words + positions", Role::query, "target so far");
  sheet.arrow({above(source), below(encoder.front())});
  sheet.arrow({above(target), below(decoder.front())});
  const Part word =
      sheet.part(330.0, 122.0, 170.0, 40.0, "linear, softmax", Role::output, "the next word");
  sheet.arrow({above(decoder.back()), below(word)}, Role::output);
  const maps::Point top = above(encoder.back());
  sheet.arrow({top,
               {top.x, 230.0},
               {250.0, 230.0},
               {250.0, left_of(decoder[1]).y},
               left_of(decoder[1])},
              Role::key, "keys and values");
  return sheet.take();
}

}  // namespace attn::tools
