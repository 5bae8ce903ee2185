/// The pointwise ops by number: every backend turns an op chosen at run time into the functor
/// of src/tensor/pointwise_functors.hpp here.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>

#include "attn/core/macros.hpp"
#include "tensor/pointwise_functors.hpp"

namespace attn::pointwise {

enum class UnaryOp {
  affine,
  exp,
  log,
  sqrt,
  square,
  abs,
  tanh,
  sigmoid,
  relu,
  gelu,
  elu,
  clamp
};
inline constexpr std::size_t kUnaryOps = 12;

enum class BinaryOp { add, sub, mul, div, maximum, minimum, gate, equal };
inline constexpr std::size_t kBinaryOps = 8;

// clang-format off

/// f(x) of the op.
template <class V>
ATTN_FN V forward(UnaryOp op, V x, V a, V b) {
  switch (op) {
    case UnaryOp::affine: return Affine::forward(x, a, b);
    case UnaryOp::exp: return Exp::forward(x, a, b);
    case UnaryOp::log: return Log::forward(x, a, b);
    case UnaryOp::sqrt: return Sqrt::forward(x, a, b);
    case UnaryOp::square: return Square::forward(x, a, b);
    case UnaryOp::abs: return Abs::forward(x, a, b);
    case UnaryOp::tanh: return Tanh::forward(x, a, b);
    case UnaryOp::sigmoid: return Sigmoid::forward(x, a, b);
    case UnaryOp::relu: return Relu::forward(x, a, b);
    case UnaryOp::gelu: return Gelu::forward(x, a, b);
    case UnaryOp::elu: return Elu::forward(x, a, b);
    case UnaryOp::clamp: return Clamp::forward(x, a, b);
  }
  return x;
}

/// Its slope, y being f(x).
template <class V>
ATTN_FN V slope(UnaryOp op, V x, V y, V a, V b) {
  switch (op) {
    case UnaryOp::affine: return Affine::slope(x, y, a, b);
    case UnaryOp::exp: return Exp::slope(x, y, a, b);
    case UnaryOp::log: return Log::slope(x, y, a, b);
    case UnaryOp::sqrt: return Sqrt::slope(x, y, a, b);
    case UnaryOp::square: return Square::slope(x, y, a, b);
    case UnaryOp::abs: return Abs::slope(x, y, a, b);
    case UnaryOp::tanh: return Tanh::slope(x, y, a, b);
    case UnaryOp::sigmoid: return Sigmoid::slope(x, y, a, b);
    case UnaryOp::relu: return Relu::slope(x, y, a, b);
    case UnaryOp::gelu: return Gelu::slope(x, y, a, b);
    case UnaryOp::elu: return Elu::slope(x, y, a, b);
    case UnaryOp::clamp: return Clamp::slope(x, y, a, b);
  }
  return x;
}

/// f(a, b) of the op.
template <class V>
ATTN_FN V forward(BinaryOp op, V a, V b) {
  switch (op) {
    case BinaryOp::add: return Add::forward(a, b);
    case BinaryOp::sub: return Sub::forward(a, b);
    case BinaryOp::mul: return Mul::forward(a, b);
    case BinaryOp::div: return Div::forward(a, b);
    case BinaryOp::maximum: return Maximum::forward(a, b);
    case BinaryOp::minimum: return Minimum::forward(a, b);
    case BinaryOp::gate: return Gate::forward(a, b);
    case BinaryOp::equal: return Equal::forward(a, b);
  }
  return a;
}

// clang-format on

}  // namespace attn::pointwise
