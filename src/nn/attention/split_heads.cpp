#include "nn/attention/split_heads.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {
namespace {

/// Part `part` of [batch, positions, parts, heads, channels], heads in front.
Tensor part_of(const Tensor& x, std::int64_t part) {
  return x.select(2, part).transpose(1, 2);
}

}  // namespace

Tensor split_heads(const Tensor& x, std::int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

std::vector<Tensor> split_parts(const Tensor& x, std::int64_t parts, std::int64_t heads) {
  const Shape shape{x.size(0), x.size(1), parts, heads, x.size(2) / (parts * heads)};
  const Tensor whole = x.reshape(shape);
  std::vector<Tensor> views;
  {
    const NoGrad off_the_tape;
    for (std::int64_t part = 0; part < parts; ++part) views.push_back(part_of(whole, part));
  }
  record("attn::nn::split_parts", std::span(&whole, 1), views,
         [shape](const Gradients& grads, const Needs&) -> Gradients {
           Tensor down;
           for (std::size_t part = 0; part < grads.size(); ++part) {
             if (!grads[part].defined()) continue;
             // Parts that nothing came back to are zeros.
             if (!down.defined())
               down = Tensor::zeros(shape, grads[part].dtype(), grads[part].device());
             part_of(down, static_cast<std::int64_t>(part)).copy_from(grads[part]);
           }
           return {down};
         });
  return views;
}

Tensor join_heads(const Tensor& x) {
  return x.transpose(1, 2).reshape({x.size(0), x.size(2), x.size(1) * x.size(3)});
}

}  // namespace attn::nn
