/// The network of watch: a small space-time convolutional net, with a non-local block or
/// without.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/vision/non_local_block.hpp"
#include "attn/nn/norm.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::watch {

/// Two convolutions in space, each pooled by two, one in time, the block over all cells of all
/// frames, one more of each, the mean over cells, and a label.
class WatchNetwork final : public Network {
 public:
  /// FileError, which begins with `where`, where options and labels do not fit.
  WatchNetwork(const nlohmann::json& model, const nlohmann::json& facts,
               const std::string& where);

  std::string kind() const override;
  Learner::Lesson loss(std::span<const Example* const> batch) const override;
  std::int64_t cost(const Example&) const override { return 1; }
  std::string refusal(const Input& input) const override;
  std::vector<Reply> answer(std::span<const Input> inputs,
                            const Choices& choices) const override;
  maps::Map map(const Input& input, const Piece& piece, std::string_view heads) const override;

 private:
  struct Seen {
    Tensor logits;   ///< [clips, labels]
    Tensor weights;  ///< [clips, cells, cells], if they are wanted and there is a block
  };
  Seen see(const Tensor& clips, bool wants_weights) const;
  /// A convolution over the frames, at each place by itself.
  Tensor in_time(const Tensor& x, const nn::Conv1d& conv) const;
  /// [clips, frames, channels, kSide, kSide]: colours within -1 to 1, and how they differ from
  /// the frame before.
  Tensor tensor_of(std::span<const Frames* const> clips) const;

  std::vector<std::string> labels_;
  std::int64_t frames_;
  nn::Conv2d first_;
  nn::Conv2d second_;
  nn::Conv1d first_time_;
  nn::Norm block_norm_;  ///< of the channels that the block sees
  std::optional<nn::NonLocalBlock> block_;
  nn::Conv2d third_;
  nn::Conv1d second_time_;
  nn::Dropout dropout_;
  nn::Linear output_;
};

}  // namespace attn::tasks::watch
