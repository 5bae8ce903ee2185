#include "attn/gemm/conv.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/error.hpp"
#include "attn/kernels/target.hpp"
#include "gemm/conv_plain.hpp"
#include "gemm/cpu/conv.hpp"

namespace attn::gemm {
namespace {

void validate(const ConvShape& shape, const char* where) {
  bool fits = shape.batch >= 0 && shape.in >= 0 && shape.out >= 0;
  for (std::size_t axis = 0; axis < 2; ++axis)
    fits = fits && shape.size[axis] >= 0 && shape.kernel[axis] >= 1 &&
           shape.stride[axis] >= 1 && shape.dilation[axis] >= 1 &&
           shape.pad_before[axis] >= 0 && shape.pad_after[axis] >= 0;
  if (!fits)
    fail(where, ": an extent or a pad is negative, or a kernel, stride or dilation below 1");
}

/// Whether there is anything to multiply.
bool has_numbers(const ConvShape& shape) {
  const std::array<std::int64_t, 2> y = shape.out_size();
  return shape.batch > 0 && shape.in > 0 && shape.out > 0 && y[0] > 0 && y[1] > 0 &&
         shape.size[0] > 0 && shape.size[1] > 0;
}

}  // namespace

std::array<std::int64_t, 2> ConvShape::out_size() const {
  std::array<std::int64_t, 2> result{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t padded = size[axis] + pad_before[axis] + pad_after[axis];
    const std::int64_t last = padded - dilation[axis] * (kernel[axis] - 1) - 1;
    result[axis] = last < 0 ? 0 : last / stride[axis] + 1;
  }
  return result;
}

template <class T>
void conv_forward(const ConvShape& shape, const T* x, const T* weight, const T* bias, T* y) {
  validate(shape, "attn::gemm::conv_forward");
  if constexpr (std::is_same_v<T, float>)
    if (has_numbers(shape))
      return conv_forward_on(cpu::best_target(), shape, x, weight, bias, y);
  plain::conv_forward(shape, x, weight, bias, y);
}

template <class T>
void conv_backward_data(const ConvShape& shape, const T* grad, const T* weight, T* dx) {
  validate(shape, "attn::gemm::conv_backward_data");
  if constexpr (std::is_same_v<T, float>)
    if (has_numbers(shape))
      return conv_backward_data_on(cpu::best_target(), shape, grad, weight, dx);
  plain::conv_backward_data(shape, grad, weight, dx);
}

template <class T>
void conv_backward_weights(const ConvShape& shape, const T* x, const T* grad, T* d_weight,
                           T* d_bias) {
  validate(shape, "attn::gemm::conv_backward_weights");
  if constexpr (std::is_same_v<T, float>)
    if (has_numbers(shape))
      return conv_backward_weights_on(cpu::best_target(), shape, x, grad, d_weight, d_bias);
  plain::conv_backward_weights(shape, x, grad, d_weight, d_bias);
}

template void conv_forward(const ConvShape&, const float*, const float*, const float*, float*);
template void conv_forward(const ConvShape&, const double*, const double*, const double*,
                           double*);
template void conv_backward_data(const ConvShape&, const float*, const float*, float*);
template void conv_backward_data(const ConvShape&, const double*, const double*, double*);
template void conv_backward_weights(const ConvShape&, const float*, const float*, float*,
                                    float*);
template void conv_backward_weights(const ConvShape&, const double*, const double*, double*,
                                    double*);

}  // namespace attn::gemm
