#include "tensor/ops/additive_scores.hpp"

#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/gpu/pairs.hpp"

namespace attn::op {

Tensor additive_scores(const Tensor& q, const Tensor& k, const Tensor& w) {
  const Tensor a = q.detach().contiguous();
  const Tensor b = k.detach().contiguous();
  const Tensor c = w.detach().contiguous();
  const Tensor out =
      Tensor::empty({q.size(0), q.size(1), q.size(2), k.size(2)}, q.dtype(), Device::gpu);
  gpu::additive_scores(a, b, c, out);
  return record("additive scores", {q, k, w}, out,
                [x = Saved(a), y = Saved(b), z = Saved(c)](const Gradients& grads,
                                                           const Needs&) -> Gradients {
                  const auto like = [](const Tensor& model) {
                    return Tensor::empty(model.shape(), model.dtype(), Device::gpu);
                  };
                  const Tensor dq = like(x.get());
                  const Tensor dk = like(y.get());
                  const Tensor dw = like(x.get());
                  gpu::additive_scores_backward(x.get(), y.get(), z.get(),
                                                grads[0].contiguous(), dq, dk, dw);
                  return {dq, dk, sum_to(dw, z.get().shape())};
                });
}

}  // namespace attn::op
