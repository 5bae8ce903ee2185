/// A task that needs attention: the answer is the value stored beside the key that is asked
/// for. The mean of the items knows which values there are, not which belongs to the key.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "attn/nn/init.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::test {

struct Lookup {
  Tensor items;   ///< [batch, count, 2 count]: one-hot key, then one-hot value
  Tensor query;   ///< [batch, count]: the key asked for
  Tensor answer;  ///< i64 [batch]: the value beside it
  Tensor place;   ///< i64 [batch]: where it lies
  Tensor values;  ///< i64 [batch, count]: the values in the order of the items
};

/// A number of [0, below) from the stream of this thread.
inline std::int64_t drawn(std::int64_t below) {
  return static_cast<std::int64_t>(nn::random().next() % static_cast<std::uint64_t>(below));
}

/// Fresh numbers: each of `count` keys once, in a random order, with values of `count` kinds.
inline Lookup make_lookup(std::int64_t batch, std::int64_t count) {
  const auto size = [](std::int64_t n) { return static_cast<std::size_t>(n); };
  std::vector<float> items(size(batch * count * 2 * count), 0.0f);
  std::vector<float> query(size(batch * count), 0.0f);
  std::vector<std::int64_t> answer, place, values;
  for (std::int64_t b = 0; b < batch; ++b) {
    std::vector<std::int64_t> keys(size(count));
    std::iota(keys.begin(), keys.end(), 0);
    for (std::int64_t i = count - 1; i > 0; --i)
      std::swap(keys[size(i)], keys[size(drawn(i + 1))]);
    const std::int64_t asked = drawn(count);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t value = drawn(count);
      const std::int64_t row = (b * count + i) * 2 * count;
      items[size(row + keys[size(i)])] = 1.0f;
      items[size(row + count + value)] = 1.0f;
      values.push_back(value);
      if (i == asked) answer.push_back(value);
    }
    place.push_back(asked);
    query[size(b * count + keys[size(asked)])] = 1.0f;
  }
  return {Tensor::from(items, {batch, count, 2 * count}), Tensor::from(query, {batch, count}),
          Tensor::from(answer, {batch}), Tensor::from(place, {batch}),
          Tensor::from(values, {batch, count})};
}

/// i64 [batch]: the value beside each key i64 [batch]. That of the answer takes a second look.
inline Tensor value_of(const Lookup& task, const Tensor& key) {
  const std::int64_t count = task.values.size(1);
  const Tensor keys = argmax(task.items.slice(2, 0, count), 2);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < keys.numel(); ++i)
    if (keys.data<std::int64_t>()[i] == key.data<std::int64_t>()[i / count])
      values.push_back(task.values.data<std::int64_t>()[i]);
  return Tensor::from(values, key.shape());
}

}  // namespace attn::test
