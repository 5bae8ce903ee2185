/// The recall task: the answer is the value stored at the key that equals the query. Whoever
/// cannot look up a key is left with the average of the values.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "nn/support/learns.hpp"

namespace attn::test {

/// Each row holds every symbol once, in a random order; symbols are one-hot, values -1 or 1.
struct Recall {
  Tensor queries;    ///< [batch, 1, symbols]: the symbol asked for
  Tensor positions;  ///< [batch, 1, symbols]: where it is, one-hot
  Tensor keys;       ///< [batch, symbols, symbols]
  Tensor values;     ///< [batch, symbols, 1]
  Tensor answers;    ///< [batch, 1, 1]
};

inline Recall recall_batch(std::int64_t batch, std::int64_t symbols) {
  Recall made{Tensor::zeros({batch, 1, symbols}), Tensor::zeros({batch, 1, symbols}),
              Tensor::zeros({batch, symbols, symbols}), Tensor::zeros({batch, symbols, 1}),
              Tensor::zeros({batch, 1, 1})};
  Random& random = nn::random();
  const auto signs = random_integers({batch, symbols}, 0, 2, random).to_vector<std::int64_t>();
  const auto asked = random_integers({batch}, 0, symbols, random).to_vector<std::int64_t>();
  for (std::int64_t b = 0; b < batch; ++b) {
    const auto order = permutation(symbols, random).to_vector<std::int64_t>();
    const std::int64_t place = asked[static_cast<std::size_t>(b)];
    const std::int64_t row = b * symbols;
    for (std::int64_t j = 0; j < symbols; ++j) {
      const std::int64_t symbol = order[static_cast<std::size_t>(j)];
      const float value = signs[static_cast<std::size_t>(row + j)] == 0 ? -1.0f : 1.0f;
      made.keys.mutable_data<float>()[(row + j) * symbols + symbol] = 1.0f;
      made.values.mutable_data<float>()[row + j] = value;
      if (j != place) continue;
      made.queries.mutable_data<float>()[row + symbol] = 1.0f;
      made.positions.mutable_data<float>()[row + place] = 1.0f;
      made.answers.mutable_data<float>()[b] = value;
    }
  }
  return made;
}

/// Trains `answer` [batch, 1, 1] of fresh batches and returns the last mean squared error.
inline double train_recall(const nn::Module& module, int steps, double rate,
                           const std::function<Tensor(const Recall&)>& answer) {
  return train(module, steps, rate, [&] {
    const Recall batch = recall_batch(32, 4);
    return mean_squared_error(answer(batch), batch.answers);
  });
}

/// The same without attention: a linear layer sees the query and the average of the values.
inline double train_recall_without(int steps, double rate) {
  const nn::Linear guess({.in = 5, .out = 1});
  return train_recall(guess, steps, rate, [&](const Recall& batch) {
    const Tensor average = nn::average_pooling(batch.values).output.unsqueeze(1);
    return guess(concat({average, batch.queries}, 2));
  });
}

}  // namespace attn::test
