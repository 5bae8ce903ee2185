/// Trains attention to look things up: eight keys with a number each, a noisy copy of one key
/// as the query, and the answer is that key's number.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstdio>

#include "attn/nn/init.hpp"
#include "attn/nn/mechanisms/score/luong_scores.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

using namespace attn;

namespace {

constexpr std::int64_t kBatch = 64, kKeys = 8, kDim = 16;

struct Lookup {
  Tensor keys = normal({kBatch, kKeys, kDim}, 0.0, 1.0, nn::random());
  Tensor values = normal({kBatch, kKeys, 1}, 0.0, 1.0, nn::random());
  Tensor positions = random_integers({kBatch, 1}, 0, kKeys, nn::random());
  Tensor queries = pick(keys, kDim) + normal({kBatch, 1, kDim}, 0.0, 0.1, nn::random());
  Tensor answers = pick(values, 1);

  /// The rows of x at `positions`.
  Tensor pick(const Tensor& x, std::int64_t width) const {
    return gather(x, 1, positions.unsqueeze(2).expand({kBatch, 1, width}).contiguous());
  }
};

}  // namespace

int main() {
  nn::seed(1);
  const nn::GeneralAttention attention({.query_dim = kDim, .key_dim = kDim});
  nn::Adam adam(attention);
  double loss = 0.0;
  for (int step = 0; step <= 500; ++step) {
    const Lookup batch;
    const Tensor error = mean_squared_error(
        attention.forward(batch.queries, batch.keys, batch.values).output, batch.answers);
    adam.zero_grad();
    error.backward();
    adam.step(0.02);
    loss = error.item();
    if (step % 100 == 0) std::printf("step %3d: loss %.4f\n", step, loss);
  }

  const NoGrad off_the_tape;
  const Lookup batch;
  const Attended looked =
      attention.forward(batch.queries, batch.keys, batch.values, {}, Want::weights);
  std::printf("asked for %lld, it looked at:",
              static_cast<long long>(batch.positions.select(0, 0).item()));
  for (std::int64_t k = 0; k < kKeys; ++k)
    std::printf(" %.2f", looked.weights.select(0, 0).select(0, 0).select(0, k).item());
  std::printf("\n");
  return loss < 0.1 ? 0 : 1;  // guessing the mean leaves a loss of 1
}
