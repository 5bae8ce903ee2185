/// Small pairs of sequences for tests of models.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/init.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::test {

using Tokens = std::vector<std::int64_t>;

struct Pair {
  Tokens source;
  Tokens target;  ///< without marks
};

/// Of the first ids: kPad, kBos, kEos, kUnknown, then letters.
inline constexpr std::int64_t kVocabulary = 9;

/// A model small enough for finite differences.
inline models::ModelOptions tiny(models::Kind kind) {
  return {.kind = kind,
          .source_vocabulary = kVocabulary,
          .target_vocabulary = kVocabulary,
          .dim = 8,
          .encoder_layers = 2,
          .decoder_layers = 2,
          .heads = 2,
          .feed_forward = 12,
          .window = 1,
          .max_source = 12,
          .dropout = 0.2};
}

/// Rows of different lengths, and a letter that occurs twice.
inline std::vector<Pair> some_pairs() {
  return {{{4, 5, 6, 4}, {6, 5}}, {{7}, {8, 7, 4}}, {{8, 5, 5}, {5}}};
}

/// Rows one under the other, filled up with kPad to the longest and `more` besides.
inline Tensor padded(const std::vector<Tokens>& rows, std::size_t more = 0) {
  std::size_t longest = 0;
  for (const Tokens& row : rows) longest = std::max(longest, row.size());
  longest += more;
  Tokens all;
  for (const Tokens& row : rows) {
    all.insert(all.end(), row.begin(), row.end());
    all.resize(all.size() + longest - row.size(), models::kPad);
  }
  return Tensor::from(
      all, {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(longest)});
}

inline models::Batch batch_of(const std::vector<Pair>& pairs, std::size_t more_source = 0,
                              std::size_t more_target = 0) {
  std::vector<Tokens> sources, inputs, targets;
  Tokens lengths;
  for (const auto& [source, target] : pairs) {
    sources.push_back(source);
    lengths.push_back(static_cast<std::int64_t>(source.size()));
    inputs.push_back(target);
    inputs.back().insert(inputs.back().begin(), models::kBos);
    targets.push_back(target);
    targets.back().push_back(models::kEos);
  }
  const auto rows = static_cast<std::int64_t>(pairs.size());
  return {padded(sources, more_source), Tensor::from(lengths, {rows}),
          padded(inputs, more_target), padded(targets, more_target)};
}

/// Fresh words of 2 to `longest` letters with what `answer` makes of each.
inline models::Batch draw_batch(std::size_t count, std::int64_t longest,
                                const std::function<Tokens(Tokens)>& answer) {
  const auto drawn = [](std::int64_t below) {
    return static_cast<std::int64_t>(nn::random().next() % static_cast<std::uint64_t>(below));
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < count; ++i) {
    Tokens word(static_cast<std::size_t>(2 + drawn(longest - 1)));
    for (std::int64_t& letter : word) letter = 4 + drawn(kVocabulary - 4);
    pairs.push_back({word, answer(word)});
  }
  return batch_of(pairs);
}

inline Tokens same(Tokens word) {
  return word;
}
inline Tokens reversed(Tokens word) {
  std::reverse(word.begin(), word.end());
  return word;
}

}  // namespace attn::test
