// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/batch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/las/augment.hpp"
#include "tasks/las/features.hpp"
#include "tasks/las/listener.hpp"
#include "tasks/las/search.hpp"

namespace attn::tasks::las {

std::int64_t least_frames(const Tokens& tokens) {
  auto need = static_cast<std::int64_t>(tokens.size());
  for (std::size_t i = 1; i < tokens.size(); ++i) need += tokens[i] == tokens[i - 1] ? 1 : 0;
  // Each of the pyramid's two layers may drop an odd last frame.
  return std::max(kLeastFrames, kReduction * need + kReduction - 1);
}

FrameBatch padded(std::span<const Heard> batch, Device device) {
  std::int64_t longest = 0;
  for (const Heard& one : batch) longest = std::max(longest, one.recording.frames);
  const auto rows = static_cast<std::int64_t>(batch.size());
  std::vector<float> values(static_cast<std::size_t>(rows * longest * kBands), 0.0F);
  std::vector<std::int64_t> lengths;
  for (std::size_t row = 0; row < batch.size(); ++row) {
    const Recording& recording = batch[row].recording;
    std::copy(recording.values.begin(), recording.values.end(),
              values.begin() + static_cast<std::ptrdiff_t>(row) * longest * kBands);
    lengths.push_back(recording.frames);
  }
  return {Tensor::from(values, {rows, longest, kBands}).to(device),
          Tensor::from(lengths, {rows})};
}

Tensor padded_tokens(std::span<const Heard> batch, std::optional<std::int64_t> front,
                     std::optional<std::int64_t> back, std::int64_t rest) {
  std::size_t longest = 0;
  for (const Heard& one : batch) longest = std::max(longest, one.tokens.size());
  const std::size_t columns = longest + (front || back ? 1 : 0);
  std::vector<std::int64_t> ids(batch.size() * columns, rest);
  for (std::size_t row = 0; row < batch.size(); ++row) {
    std::size_t at = row * columns;
    if (front) ids[at++] = *front;
    for (const std::int64_t token : batch[row].tokens) ids[at++] = token;
    if (back) ids[at] = *back;
  }
  return Tensor::from(
      ids, {static_cast<std::int64_t>(batch.size()), static_cast<std::int64_t>(columns)});
}

}  // namespace attn::tasks::las
