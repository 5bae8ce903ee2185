// C12: a matrix product of 1024 x 1024 x 1024.

// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "attn/core/thread_pool.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "stopwatch.hpp"
#include "training/workload.hpp"

namespace attn::bench {
namespace {

class ProductWorkload : public Workload {
 public:
  explicit ProductWorkload(int threads) : threads_(threads) {
    Random random(3);
    a_ = uniform({1024, 1024}, -1.0, 1.0, random);
    b_ = uniform({1024, 1024}, -1.0, 1.0, random);
  }

  double seconds(int calls) override {
    ThreadPool::set_default_threads(threads_);
    const NoGrad off_the_tape;
    const Stopwatch watch(threads_);
    for (int call = 0; call < calls; ++call) c_ = matmul(a_, b_);
    return watch.seconds() / calls;
  }

 private:
  int threads_;
  Tensor a_;
  Tensor b_;
  Tensor c_;
};

}  // namespace

std::unique_ptr<Workload> product_workload(int threads) {
  return std::make_unique<ProductWorkload>(threads);
}

}  // namespace attn::bench
