/// The formulas of the pointwise ops with their derivatives, written once for scalars, SIMD
/// lanes and GPU threads, and the choice among them by number.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <type_traits>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"

namespace attn::pointwise {

// A unary functor has forward(x, a, b) and slope(x, y, a, b), y being its result and a and b
// two numbers that some are given: dx = grad * slope. A binary one has forward(a, b); its
// slopes are ops themselves, because they must be summed where an operand was broadcast.
// clang-format off

/// A number in the precision of V.
template <class V>
ATTN_FN V constant(double x) {
  if constexpr (std::is_same_v<V, double>) {
    return x;
  } else {
    return V(static_cast<float>(x));
  }
}

/// a x + b.
struct Affine {
  template <class V> ATTN_FN static V forward(V x, V a, V b) { return a * x + b; }
  template <class V> ATTN_FN static V slope(V, V, V a, V) { return a; }
};
struct Exp {
  template <class V> ATTN_FN static V forward(V x, V, V) { return exp(x); }
  template <class V> ATTN_FN static V slope(V, V y, V, V) { return y; }
};
struct Log {
  template <class V> ATTN_FN static V forward(V x, V, V) { return log(x); }
  template <class V> ATTN_FN static V slope(V x, V, V, V) { return V(1) / x; }
};
struct Sqrt {
  template <class V> ATTN_FN static V forward(V x, V, V) { return sqrt(x); }
  template <class V> ATTN_FN static V slope(V, V y, V, V) { return V(0.5f) / y; }
};
struct Square {
  template <class V> ATTN_FN static V forward(V x, V, V) { return x * x; }
  template <class V> ATTN_FN static V slope(V x, V, V, V) { return x + x; }
};
/// The slope at 0 is 0.
struct Abs {
  template <class V> ATTN_FN static V forward(V x, V, V) { return abs(x); }
  template <class V> ATTN_FN static V slope(V x, V, V, V) {
    return select(x > V(0), V(1), select(x < V(0), V(-1), V(0)));
  }
};
struct Tanh {
  template <class V> ATTN_FN static V forward(V x, V, V) { return tanh(x); }
  template <class V> ATTN_FN static V slope(V, V y, V, V) { return V(1) - y * y; }
};
struct Sigmoid {
  template <class V> ATTN_FN static V forward(V x, V, V) { return sigmoid(x); }
  template <class V> ATTN_FN static V slope(V, V y, V, V) { return y * (V(1) - y); }
};
/// The slope at 0 is 0; NaN stays NaN.
struct Relu {
  template <class V> ATTN_FN static V forward(V x, V, V) { return select(x <= V(0), V(0), x); }
  template <class V> ATTN_FN static V slope(V x, V, V, V) {
    return select(x > V(0), V(1), V(0));
  }
};
/// x Phi(x) with the normal distribution Phi. Hendrycks and Gimpel, 2016, arXiv:1606.08415.
struct Gelu {
  template <class V> ATTN_FN static V forward(V x, V, V) { return x * phi(x); }
  template <class V> ATTN_FN static V slope(V x, V, V, V) {
    const V bell = constant<V>(0.3989422804014327) * exp(V(-0.5f) * x * x);
    return phi(x) + x * bell;
  }

 private:
  template <class V> ATTN_FN static V phi(V x) {
    return V(0.5f) * (V(1) + erf(x * constant<V>(0.7071067811865476)));
  }
};
/// x above 0, a (e^x - 1) below. Clevert et al., 2015, arXiv:1511.07289.
struct Elu {
  template <class V> ATTN_FN static V forward(V x, V a, V) {
    return select(x > V(0), x, a * (exp(select(x > V(0), V(0), x)) - V(1)));
  }
  template <class V> ATTN_FN static V slope(V x, V y, V a, V) {
    return select(x > V(0), V(1), y + a);
  }
};
/// x kept in [a, b]; no gradient outside.
struct Clamp {
  template <class V> ATTN_FN static V forward(V x, V a, V b) {
    return select(x < a, a, select(x > b, b, x));
  }
  template <class V> ATTN_FN static V slope(V x, V, V a, V b) {
    return select(x < a, V(0), select(x > b, V(0), V(1)));
  }
};

struct Add {
  template <class V> ATTN_FN static V forward(V a, V b) { return a + b; }
};
struct Sub {
  template <class V> ATTN_FN static V forward(V a, V b) { return a - b; }
};
struct Mul {
  template <class V> ATTN_FN static V forward(V a, V b) { return a * b; }
};
struct Div {
  template <class V> ATTN_FN static V forward(V a, V b) { return a / b; }
};
struct Maximum {
  template <class V> ATTN_FN static V forward(V a, V b) { return select(a >= b, a, b); }
};
struct Minimum {
  template <class V> ATTN_FN static V forward(V a, V b) { return select(a <= b, a, b); }
};
/// 1 where the numbers are the same, else 0.
struct Equal {
  template <class V> ATTN_FN static V forward(V a, V b) { return select(a == b, V(1), V(0)); }
};
/// b where a >= 1/2, else 0: what a condition lets through.
struct Gate {
  template <class V> ATTN_FN static V forward(V a, V b) {
    return select(a >= V(0.5f), b, V(0));
  }
};

enum class UnaryOp { affine, exp, log, sqrt, square, abs, tanh, sigmoid, relu, gelu, elu, clamp };
inline constexpr std::size_t kUnaryOps = 12;

enum class BinaryOp { add, sub, mul, div, maximum, minimum, gate, equal };
inline constexpr std::size_t kBinaryOps = 8;

/// Calls run(the functor of the op).
template <class Run>
ATTN_FN auto with_functor(UnaryOp op, const Run& run) {
  switch (op) {
    case UnaryOp::affine: return run(Affine{});
    case UnaryOp::exp: return run(Exp{});
    case UnaryOp::log: return run(Log{});
    case UnaryOp::sqrt: return run(Sqrt{});
    case UnaryOp::square: return run(Square{});
    case UnaryOp::abs: return run(Abs{});
    case UnaryOp::tanh: return run(Tanh{});
    case UnaryOp::sigmoid: return run(Sigmoid{});
    case UnaryOp::relu: return run(Relu{});
    case UnaryOp::gelu: return run(Gelu{});
    case UnaryOp::elu: return run(Elu{});
    case UnaryOp::clamp: break;
  }
  return run(Clamp{});
}

/// f(x) of the op.
template <class V>
ATTN_FN V forward(UnaryOp op, V x, V a, V b) {
  return with_functor(op, [&](auto f) { return decltype(f)::forward(x, a, b); });
}
/// Its slope, y being f(x).
template <class V>
ATTN_FN V slope(UnaryOp op, V x, V y, V a, V b) {
  return with_functor(op, [&](auto f) { return decltype(f)::slope(x, y, a, b); });
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
