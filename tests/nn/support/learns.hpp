/// What a trainable mechanism must show: it learns something that the same model without
/// attention does not.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::test {

/// Whether trainings run to their end and are judged. ATTN_LEARNING_STEPS, which the check
/// under the sanitizers sets, cuts them short: the later steps use no other memory.
inline bool is_judged() {
  return std::getenv("ATTN_LEARNING_STEPS") == nullptr;
}

/// The steps of a training, or ATTN_LEARNING_STEPS if that is less.
inline int most_steps(int steps) {
  return is_judged() ? steps : std::min(steps, std::stoi(std::getenv("ATTN_LEARNING_STEPS")));
}

/// Both return the loss after training; each begins with the same seed.
inline void expect_learns(double bound, const std::function<double()>& train_with,
                          const std::function<double()>& train_without) {
  nn::seed(7);
  const double with = train_with();
  nn::seed(7);
  const double without = train_without();
  if (!is_judged()) return;
  EXPECT_LT(with, bound) << "with attention";
  EXPECT_GT(without, bound) << "without attention the bound should be out of reach";
}

/// Runs Adam on `loss` for `steps` steps and returns the last loss. `module` holds what is
/// trained.
inline double train(const nn::Module& module, int steps, double rate,
                    const std::function<Tensor()>& loss) {
  nn::Adam adam(module);
  double last = 0.0;
  for (int step = 0; step < most_steps(steps); ++step) {
    const Tensor now = loss();
    last = now.item();
    adam.zero_grad();
    now.backward();
    adam.step(rate);
  }
  return last;
}

}  // namespace attn::test
