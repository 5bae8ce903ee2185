#include "kernels/clear_grads.hpp"

#include <cstdint>

#include "attn/core/dtype.hpp"
#include "attn/core/table.hpp"
#include "attn/kernels/args.hpp"

namespace attn {
namespace {

void clear(const TableGrad& grad) {
  if (grad.data == nullptr) return;
  for (std::int64_t b = 0; b < grad.shape[0]; ++b)
    for (std::int64_t h = 0; h < grad.shape[1]; ++h)
      for (std::int64_t i = 0; i < grad.shape[2]; ++i)
        for (std::int64_t c = 0; c < grad.shape[3]; ++c) {
          const std::int64_t place = b * grad.strides[0] + h * grad.strides[1] +
                                     i * grad.strides[2] + c * grad.strides[3];
          if (grad.dtype == DType::f64) {
            static_cast<double*>(grad.data)[place] = 0.0;
          } else {
            static_cast<float*>(grad.data)[place] = 0.0f;
          }
        }
}

}  // namespace

void clear(const RecipeGrads& grads) {
  clear(grads.weights);
  for (const auto& stage : grads.scores)
    for (const auto& g : stage) clear(g);
  for (const auto& g : grads.normaliser) clear(g);
  for (const auto& stage : grads.factors)
    for (const auto& g : stage) clear(g);
}

}  // namespace attn
