/// What training tests share beside the lookup: a mechanism with a linear layer behind it, and
/// a task without a query.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/lookup.hpp"

namespace attn::test {

/// A mechanism and what reads its answer.
template <class M>
struct WithHead : nn::Module {
  WithHead(M mechanism, std::int64_t dim, std::int64_t classes)
      : looks(add("looks", mechanism)), out(add("out", nn::Linear({dim, classes}))) {}

  M looks;
  nn::Linear out;
};
template <class M>
WithHead(M, std::int64_t, std::int64_t) -> WithHead<M>;

/// i64 [...] -> [..., classes].
inline Tensor one_hot(const Tensor& ids, std::int64_t classes) {
  return scatter_add(Tensor::full(ids.shape(), 1.0).unsqueeze(-1), ids.rank(),
                     ids.unsqueeze(-1), classes);
}

/// Every place shows the mean of all: what a model without attention could know.
inline Tensor blurred(const Tensor& items) {
  return mean(items, 1, Axis::keep).expand(items.shape());
}

struct Marked {
  Tensor items;   ///< [batch, count, classes + 1]: a one-hot class, and 1 for the marked one
  Tensor answer;  ///< i64 [batch]: the class of the marked item
};

/// Fresh numbers.
inline Marked make_marked(std::int64_t batch, std::int64_t count, std::int64_t classes) {
  std::vector<float> items(static_cast<std::size_t>(batch * count * (classes + 1)), 0.0f);
  std::vector<std::int64_t> answer;
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t marked = drawn(count);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t own = drawn(classes);
      const std::int64_t row = (b * count + i) * (classes + 1);
      items[static_cast<std::size_t>(row + own)] = 1.0f;
      if (i != marked) continue;
      items[static_cast<std::size_t>(row + classes)] = 1.0f;
      answer.push_back(own);
    }
  }
  return {Tensor::from(items, {batch, count, classes + 1}), Tensor::from(answer, {batch})};
}

}  // namespace attn::test
