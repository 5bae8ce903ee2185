/// Trains attention with a score of our own: each target is the value five places back, and the
/// score must find out how far that is.
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/spec/functor.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "echo.hpp"

using attn::Tensor;

namespace {

constexpr std::int64_t kBatch = 4, kLength = 64, kDim = 8, kBack = 5;

/// One step against the gradient.
void descend(Tensor& parameter, double rate) {
  const attn::NoGrad off_the_tape;
  parameter.copy_from(parameter - parameter.grad() * rate);
  parameter.zero_grad();
}

}  // namespace

int main() {
  attn::Random random(7);
  Tensor height = Tensor::full({1}, 0.1).set_requires_grad();
  Tensor distance = Tensor::full({1}, 3.0).set_requires_grad();
  double loss = 0.0;
  for (int step = 0; step < 300; ++step) {
    const Tensor q = attn::normal({kBatch, kLength, kDim}, 0.0, 1.0, random);
    const Tensor k = attn::normal({kBatch, kLength, kDim}, 0.0, 1.0, random);
    const Tensor v = attn::normal({kBatch, kLength, kDim}, 0.0, 1.0, random);
    const auto score =
        attn::spec::scaled_dot() | attn::spec::functor(Echo{}, {height, distance});
    const Tensor seen = attn::attend(q, k, v, score, attn::spec::causal()).output;
    const Tensor error =
        attn::mean_squared_error(seen.slice(1, kBack, kLength), v.slice(1, 0, kLength - kBack));
    error.backward();
    descend(height, 0.3);
    descend(distance, 0.5);
    loss = error.item();
    if (step % 60 == 0)
      std::printf("step %3d: loss %.4f, distance %.3f, height %.3f\n", step, loss,
                  distance.item(), height.item());
  }
  std::printf("at last:  loss %.4f, distance %.3f, height %.3f\n", loss, distance.item(),
              height.item());
  return std::fabs(distance.item() - kBack) < 0.1 ? 0 : 1;
}
