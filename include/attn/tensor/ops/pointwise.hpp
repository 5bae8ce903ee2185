/// Pointwise ops: one number from one or two. The formulas and their derivatives are the
/// functors of src/tensor/pointwise_functors.hpp, which every backend uses.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/tensor/tensor.hpp"

namespace attn {

// Both sides broadcast and have one dtype.
Tensor add(const Tensor& a, const Tensor& b);
Tensor sub(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);
Tensor div(const Tensor& a, const Tensor& b);
Tensor maximum(const Tensor& a, const Tensor& b);  ///< the gradient of equals goes to a
Tensor minimum(const Tensor& a, const Tensor& b);

/// scale * x + shift.
Tensor affine(const Tensor& x, double scale, double shift);
Tensor neg(const Tensor& x);
Tensor exp(const Tensor& x);
Tensor log(const Tensor& x);
Tensor sqrt(const Tensor& x);
Tensor square(const Tensor& x);
Tensor abs(const Tensor& x);
Tensor tanh(const Tensor& x);
Tensor sigmoid(const Tensor& x);
Tensor relu(const Tensor& x);
Tensor gelu(const Tensor& x);  ///< exact: x Phi(x)
Tensor elu(const Tensor& x, double alpha = 1.0);
Tensor clamp(const Tensor& x, double low, double high);

enum class Activation { identity, relu, tanh, gelu, sigmoid, elu };
Tensor activate(const Tensor& x, Activation activation);

/// a where `keep` (boolean, broadcast) holds, else b; the other side is lost, NaN or not, in
/// the gradient too.
Tensor where(const Tensor& keep, const Tensor& a, const Tensor& b);
/// x where `keep` holds, else `value`.
Tensor keep_where(const Tensor& x, const Tensor& keep, double value = 0.0);
/// Boolean: [batch, extent], true for the first lengths[b] positions. Lengths are i64 [batch].
Tensor length_mask(const Tensor& lengths, std::int64_t extent);
Tensor logical_and(const Tensor& a, const Tensor& b);
Tensor logical_not(const Tensor& a);

// clang-format off
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor operator+(const Tensor& a, double b) { return affine(a, 1.0, b); }
inline Tensor operator+(double a, const Tensor& b) { return affine(b, 1.0, a); }
inline Tensor operator-(const Tensor& a, double b) { return affine(a, 1.0, -b); }
inline Tensor operator-(double a, const Tensor& b) { return affine(b, -1.0, a); }
inline Tensor operator*(const Tensor& a, double b) { return affine(a, b, 0.0); }
inline Tensor operator*(double a, const Tensor& b) { return affine(b, a, 0.0); }
inline Tensor operator/(const Tensor& a, double b) { return affine(a, 1.0 / b, 0.0); }
// clang-format on

}  // namespace attn
