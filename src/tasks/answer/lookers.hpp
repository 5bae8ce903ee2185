/// Lookers: how a question and a picture meet, and what an answer is told from.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/nn/module.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::vqa {

/// Pictures and their questions on the network's device; several questions may be of one.
struct Scene {
  Tensor places;   ///< [questions, places, channels]: the grid of each question's picture
  Tensor regions;  ///< [all regions, channels]: those of each question, one after another
  Tensor offsets;  ///< i64 [questions + 1], in the CPU's memory: where the regions begin
  Tensor words;    ///< [questions, words, channels]
  Tensor lengths;  ///< i64 [questions]
  Tensor last;     ///< i64 [questions]: the place of the last word
};

/// What a question looked at: on one level of it ("words", "phrases", "question"), or with a
/// look before the last ("first", "second").
struct Look {
  std::string level;
  Tensor places;  ///< [questions, places], or [all regions] of boxes; or none
  Tensor words;   ///< [questions, words], or none
};

struct Answered {
  Tensor logits;  ///< [questions, answers]
  std::vector<Look> looks{};
};

struct LookerOptions {
  std::int64_t channels;
  std::int64_t hidden;
  std::int64_t answers;
  std::int64_t hops;  ///< of grid and boxes: looks, each in the light of the one before
};

class Looker : public nn::Module {
 public:
  virtual ~Looker() = default;
  /// With `looks`: weights, too.
  virtual Answered forward(const Scene& scene, bool looks) const = 0;
};

/// parallel, alternating: co-attention on three levels of the question (Lu et al., 2016).
/// grid: the question looks at the places of a grid, as often as there are hops, and takes what
/// it saw along (stacked attention, Yang et al., 2016); boxes: at regions. mean: the mean of
/// all places; none: the question alone.
const std::vector<std::string>& attentions();
inline constexpr std::int64_t kMostHops = 3;
/// One of those; InvalidArgument for another name.
std::shared_ptr<Looker> looker_named(const std::string& attention,
                                     const LookerOptions& options);

}  // namespace attn::tasks::vqa
