// C11: a training step of one layer of the Transformer's encoder.

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>

#include "attn/core/thread_pool.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/nn/transformer/torch_layers.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "stopwatch.hpp"
#include "training/workload.hpp"

namespace attn::bench {
namespace {

constexpr std::int64_t kBatch = 8;
constexpr std::int64_t kPositions = 256;
constexpr std::int64_t kDim = 512;

class TransformerStep : public Workload {
 public:
  explicit TransformerStep(int threads)
      : threads_(threads),
        layer_({.dim = kDim, .heads = 8, .feed_forward_dim = 2048, .dropout = 0.1}),
        adam_(layer_) {
    Random random(3);
    x_ = normal({kBatch, kPositions, kDim}, 0.0, 1.0, random);
    x_.set_requires_grad();
  }

  double seconds(int calls) override {
    ThreadPool::set_default_threads(threads_);
    const Stopwatch watch(threads_);
    for (int call = 0; call < calls; ++call) {
      adam_.zero_grad();
      x_.zero_grad();
      mean(square(layer_(x_))).backward();
      adam_.step(1e-3);
    }
    return watch.seconds() / calls;
  }

 private:
  int threads_;
  nn::TransformerEncoderLayer layer_;
  nn::Adam adam_;
  Tensor x_;
};

}  // namespace

std::unique_ptr<Workload> transformer_workload(int threads) {
  nn::seed(1);
  return std::make_unique<TransformerStep>(threads);
}

}  // namespace attn::bench
