// What notes looked at while they were composed: a piano roll, or the bars of a tune.

#include "attn/maps/map.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/compose/music.hpp"
#include "tasks/compose/network.hpp"
#include "tasks/compose/notation.hpp"
#include "tasks/compose/roll.hpp"

namespace attn::tasks::compose {
namespace {

/// Tokens whose notes look, those of the last step that has any.
constexpr std::size_t kLooking = 4;
/// Bars that a picture shows; more cannot be read.
constexpr std::size_t kMostBars = 32;
constexpr std::size_t kMostTokens = 64;  ///< of a map of heads

/// The mean over heads and layers: [positions, positions].
Tensor mean_of(const std::vector<Tensor>& layers) {
  Tensor sum;
  for (const Tensor& layer : layers) {
    const Tensor one = mean(layer.select(0, 0), 0);
    sum = sum.defined() ? sum + one : one;
  }
  return sum * (1.0 / static_cast<double>(layers.size()));
}

/// The weights of the token at `place`, which the input before it chose, over tokens of its
/// window: input i + 1 is token i.
std::vector<Looking> looking_notes(const Tensor& weights, const Composition& made,
                                   std::size_t first) {
  const auto inputs = static_cast<std::size_t>(weights.size(0));
  const auto all = weights.to_vector<float>();
  std::vector<Looking> looking;
  for (std::size_t at = made.note_of.size(); at > first && looking.size() < kLooking; --at) {
    const std::size_t token = at - 1;
    if (made.note_of[token] < 0) continue;
    Looking one{static_cast<std::size_t>(made.note_of[token]),
                std::vector<double>(made.music.notes.size(), 0.0)};
    const std::size_t row = token - first;
    for (std::size_t input = 1; input <= row; ++input) {
      const std::int64_t note = made.note_of[first + input - 1];
      if (note >= 0)
        one.weights[static_cast<std::size_t>(note)] +=
            static_cast<double>(all[row * inputs + input]);
    }
    looking.push_back(std::move(one));
  }
  return looking;
}

struct Bar {
  std::string label;
  std::size_t begin;  ///< of its tokens
  std::size_t end;
};

/// What stands between lines of a tune's text; a header is a bar of its own.
std::vector<Bar> bars_of(std::string_view text) {
  std::vector<Bar> bars;
  bool begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (begins) bars.push_back({"", i, i});
    begins = text[i] == '|' || text[i] == '\n';
    // Marks of one bar line stay together.
    if (begins && i + 1 < text.size() &&
        std::string_view("|:]").find(text[i + 1]) != std::string_view::npos)
      begins = false;
    bars.back().end = i + 1;
    if (text[i] != '\n' && (text[i] != ' ' || !bars.back().label.empty()))
      bars.back().label += text[i];
  }
  for (Bar& bar : bars) {
    while (!bar.label.empty() && bar.label.back() == ' ') bar.label.pop_back();
    if (bar.label.empty()) bar.label = "▁";
  }
  return bars;
}

/// Of a row the mean over its characters, of a column the sum.
maps::Matrix between_bars(const Tensor& weights, const std::vector<Bar>& bars,
                          std::size_t shown) {
  const auto inputs = static_cast<std::size_t>(weights.size(0));
  const auto all = weights.to_vector<float>();
  const std::size_t count = bars.size() - shown;
  maps::Matrix matrix{count, count, std::vector<float>(count * count, 0.0f)};
  for (std::size_t row = 0; row < count; ++row) {
    const Bar& to = bars[shown + row];
    for (std::size_t column = 0; column <= row; ++column) {
      const Bar& from = bars[shown + column];
      double sum = 0.0;
      for (std::size_t i = to.begin; i < to.end; ++i)
        for (std::size_t j = from.begin; j < std::min(from.end, i); ++j)
          sum += static_cast<double>(all[i * inputs + j + 1]);
      matrix.values[row * count + column] = static_cast<float>(
          std::clamp(sum / static_cast<double>(to.end - to.begin), 0.0, 1.0));
    }
  }
  return matrix;
}

maps::Map map_of_bars(const Tensor& weights, std::string_view text) {
  const std::vector<Bar> bars = bars_of(text);
  const std::size_t shown = bars.size() > kMostBars ? bars.size() - kMostBars : 0;
  maps::Labels labels;
  for (std::size_t i = shown; i < bars.size(); ++i) labels.push_back(bars[i].label);
  return maps::Alignment{
      "what each bar looked at",
      "Each row is a bar as it was chosen, character by character: the weights of the bars "
      "before it, the mean of all heads and layers." +
          std::string(shown == 0 ? "" : " The end of the tune is shown."),
      labels,
      labels,
      "bar",
      "earlier bars",
      between_bars(weights, bars, shown)};
}

/// Every head over the last tokens.
maps::Map map_of_heads(const std::vector<Tensor>& layers, const maps::Labels& tokens) {
  const std::size_t count = std::min(kMostTokens, tokens.size());
  maps::Labels labels(tokens.end() - static_cast<std::ptrdiff_t>(count), tokens.end());
  maps::Heads all{"what each head looked at",
                  "Each row is a token as it was chosen, each column one before it; the last " +
                      std::to_string(count) + " are shown.",
                  labels,
                  labels,
                  {}};
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    for (std::int64_t head = 0; head < layers[layer].size(1); ++head) {
      const Tensor one = layers[layer].select(0, 0).select(0, head);
      const auto inputs = static_cast<std::size_t>(one.size(0));
      const auto values = one.to_vector<float>();
      maps::Matrix matrix{count, count, std::vector<float>(count * count, 0.0f)};
      for (std::size_t row = 0; row < count; ++row)
        for (std::size_t column = 0; column < row; ++column)
          matrix.values[row * count + column] =
              std::clamp(values[(inputs - count + row) * inputs + inputs - count + column + 1],
                         0.0f, 1.0f);
      all.maps.push_back({"decoder", static_cast<std::int64_t>(layer) + 1, head + 1,
                          std::move(matrix), std::nullopt, std::nullopt});
    }
  return all;
}

}  // namespace

maps::Map ComposeNetwork::map(const Input&, const Piece& piece, std::string_view heads) const {
  const NoGrad off_the_tape;
  const Answer& answer = piece.answers.front();
  Tokens tokens = answer.source;
  tokens.insert(tokens.end(), answer.target.begin(), answer.target.end());
  const auto window = static_cast<std::size_t>(model_.options().window);
  const auto slots = static_cast<std::size_t>(model_.options().slots);
  // The first token that is read, the beginning of a step.
  const std::size_t first =
      tokens.size() > window ? (tokens.size() - window + slots - 1) / slots * slots : 0;
  if (tokens.empty()) return piano_roll({}, 0, {});
  Tokens inputs;
  for (std::size_t i = first; i < tokens.size(); ++i)
    inputs.push_back(i == 0 ? kBegin : tokens[i - 1]);
  const std::vector<Tensor> layers =
      model_.weights(Tensor::from(inputs, {1, static_cast<std::int64_t>(inputs.size())}));
  const Composition made = notation_->composition(tokens);
  if (!heads.empty()) {
    maps::Labels labels;
    for (std::size_t i = first; i < tokens.size(); ++i)
      labels.push_back(notation_->label(tokens[i]));
    return map_of_heads(layers, labels);
  }
  const Tensor mean = mean_of(layers);
  if (notation_->slots() == 1) {
    std::string text;
    for (std::size_t i = first; i < tokens.size(); ++i) text += notation_->label(tokens[i]);
    return map_of_bars(mean, text);
  }
  std::size_t composed = 0;
  for (std::size_t i = 0; i < answer.source.size(); ++i)
    if (made.note_of[i] >= 0) ++composed;
  return piano_roll(made.music, composed, looking_notes(mean, made, first));
}

}  // namespace attn::tasks::compose
