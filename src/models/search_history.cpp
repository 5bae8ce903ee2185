#include "models/search_history.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/search.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::models {

void History::begin_step(std::vector<std::int64_t> tokens, std::vector<std::int64_t> parents) {
  steps_.push_back({std::move(tokens), std::move(parents), {}});
}

void History::end_step(const Tensor& weights) {
  if (weights.defined())
    steps_.back().weights = weights.to(DType::f32).to(Device::cpu).contiguous();
}

std::vector<std::int64_t> History::tokens(std::int64_t row) const {
  std::vector<std::int64_t> said;
  said.reserve(steps_.size());
  // The first token is kBos.
  for (std::size_t step = steps_.size(); step-- > 1;) {
    said.push_back(steps_[step].tokens[static_cast<std::size_t>(row)]);
    row = steps_[step].parents[static_cast<std::size_t>(row)];
  }
  std::reverse(said.begin(), said.end());
  return said;
}

Hypothesis History::trace(std::int64_t row) const {
  Hypothesis hypothesis;
  hypothesis.tokens = tokens(row);
  const Tensor& newest = steps_.back().weights;
  const std::int64_t width = newest.defined() ? newest.size(1) : 0;
  hypothesis.weights.resize(steps_.size() * static_cast<std::size_t>(width));
  for (std::size_t step = steps_.size(); step-- > 0;) {
    const Step& at = steps_[step];
    if (width > 0)
      std::copy_n(at.weights.data<float>() + row * width, width,
                  hypothesis.weights.begin() + static_cast<std::int64_t>(step) * width);
    if (step > 0) row = at.parents[static_cast<std::size_t>(row)];
  }
  return hypothesis;
}

}  // namespace attn::models
