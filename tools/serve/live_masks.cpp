// Which pairs exist.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/mask/block_sparse.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/dilated.hpp"
#include "attn/mask/sliding_window.hpp"
#include "tools/serve/live.hpp"
#include "tools/serve/live_sentence.hpp"

namespace attn::serve {
namespace {

int whole(const Values& values, const char* name) {
  return static_cast<int>(std::lround(values.at(name)));
}

template <class M>
Recipe masked(const M& mask) {
  Recipe recipe;
  recipe.scale = usual_scale();
  recipe.masks = {MaskTree::of(mask_stage(mask))};
  return recipe;
}

nlohmann::json causal(const Values& values) {
  const int count = whole(values, "queries");
  const bool bottom_right = whole(values, "alignment") == 1;
  const Sentence& words = sentence();
  Problem problem = self_attention();
  // The last words are those that a model behind a cache has still to read.
  const int first = words.size() - count;
  problem.queries.erase(
      problem.queries.begin(),
      problem.queries.begin() + static_cast<std::ptrdiff_t>(first) * words.channels);
  const mask::Causal mask =
      bottom_right ? mask::Causal::bottom_right(count, words.size()) : mask::Causal::top_left();
  const std::vector<std::string> rows(words.words.begin() + first, words.words.end());
  return matrix_map(
      "Causal mask",
      fmt::format("The last {} words look at all {}, and at none that comes later. {}", count,
                  words.size(),
                  bottom_right ? "The last query lines up with the last key."
                               : "The first query lines up with the first key."),
      rows, words.words, weights_of(problem, masked(mask)));
}

nlohmann::json window(const Values& values) {
  const int left = whole(values, "left");
  const int right = whole(values, "right");
  return sentence_map(
      "Sliding window",
      fmt::format("A word sees {} words before it, itself, and {} behind it.", left, right),
      masked(mask::SlidingWindow{left, right}));
}

nlohmann::json dilated(const Values& values) {
  const int step = whole(values, "step");
  const int reach = whole(values, "reach");
  return sentence_map(
      "Dilated mask",
      fmt::format(
          "A word sees itself and the words that are a multiple of {} away, at most {}.", step,
          reach),
      masked(mask::Dilated{step, reach}));
}

nlohmann::json blocks(const Values& values) {
  const int size = whole(values, "block");
  const int near = whole(values, "near");
  const int words = sentence().size();
  const int count = (words + size - 1) / size;
  std::vector<unsigned char> kept(static_cast<std::size_t>(count) * count, 0);
  for (int q = 0; q < count; ++q)
    for (int k = 0; k < count; ++k)
      kept[static_cast<std::size_t>(q) * count + k] =
          std::abs(q - k) <= near || q == 0 || k == 0 ? 1 : 0;
  mask::BlockSparse mask;
  mask.blocks = kept.data();
  mask.query_block = size;
  mask.key_block = size;
  mask.query_stride = count;
  const auto exist = std::count(kept.begin(), kept.end(), 1);
  return sentence_map(
      "Block-sparse mask",
      fmt::format(
          "Blocks of {0} × {0} words: {1} of {2} exist. The first block sees all and is "
          "seen by all; the others see {3} on either side.",
          size, exist, kept.size(), near),
      masked(mask));
}

}  // namespace

std::vector<LiveExample> live_masks() {
  return {{"causal_mask",
           "Causal mask: nobody sees what comes later",
           "w = softmax(s) over k ≤ q + offset\noffset = 0 (top left) or keys − queries "
           "(bottom right)",
           "With as many queries as keys both alignments are the same. Behind a cache there "
           "are fewer queries than keys, and only bottom right lets the last see everything.",
           "matrix",
           {{"queries", "queries: the last so many words", 1, 9, 1, 6},
            {"alignment", "alignment: 0 top left, 1 bottom right", 0, 1, 1, 1}},
           causal},
          {"sliding_window",
           "Sliding window: only the neighbours",
           "w = softmax(s) over q − left ≤ k ≤ q + right",
           "Every word sees the words around it. The cost of a long text then grows with its "
           "length and not with its square.",
           "matrix",
           {{"left", "words before", 0, 8, 1, 2}, {"right", "words behind", 0, 8, 1, 1}},
           window},
          {"dilated_mask",
           "Dilated mask: every so many words",
           "w = softmax(s) over |q − k| ≤ reach, q − k a multiple of step",
           "Gaps let the same number of keys reach further, as in strided and dilated "
           "sparse attention.",
           "matrix",
           {{"step", "step", 1, 4, 1, 2}, {"reach", "reach, words", 0, 8, 1, 8}},
           dilated},
          {"block_sparse",
           "Block-sparse mask: a table says which blocks exist",
           "w = softmax(s) over blocks[q / size, k / size] ≠ 0",
           "Neighbouring blocks and one that everybody sees, as in BigBird. Blocks that do "
           "not exist cost nothing.",
           "matrix",
           {{"block", "words in a block", 1, 4, 1, 2},
            {"near", "neighbour blocks on either side", 0, 4, 1, 0}},
           blocks}};
}

}  // namespace attn::serve
