/// Lowering: ONNX's elementwise operations in terms of a program's instructions. The same rules
/// serve constants, which are computed at once, and scores, for which instructions are written.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace attn::conformance {

/// What a value is made of. Programs hold all of them as floats, conditions as 1 and 0.
enum class Kind { real, whole, condition };

/// The attributes that elementwise operations take.
struct ElementSettings {
  double alpha = 0.0;
  double beta = 0.0;
  bool fmod = false;
  Kind to = Kind::real;    ///< of Cast
  Kind from = Kind::real;  ///< of the first operand
};

/// Numbers as they are: the algebra of constants.
struct NumberAlgebra {
  using Term = double;

  // clang-format off
  Term constant(double x) const { return x; }
  Term add(Term x, Term y) const { return x + y; }
  Term subtract(Term x, Term y) const { return x - y; }
  Term multiply(Term x, Term y) const { return x * y; }
  Term divide(Term x, Term y) const { return x / y; }
  Term power(Term x, Term y) const { return std::pow(x, y); }
  Term minimum(Term x, Term y) const { return y < x ? y : x; }
  Term maximum(Term x, Term y) const { return x < y ? y : x; }
  Term less(Term x, Term y) const { return x < y ? 1.0 : 0.0; }
  Term less_equal(Term x, Term y) const { return x <= y ? 1.0 : 0.0; }
  Term equal(Term x, Term y) const { return x == y ? 1.0 : 0.0; }
  Term negate(Term x) const { return -x; }
  Term absolute(Term x) const { return std::fabs(x); }
  Term floor(Term x) const { return std::floor(x); }
  Term exponential(Term x) const { return std::exp(x); }
  Term logarithm(Term x) const { return std::log(x); }
  Term square_root(Term x) const { return std::sqrt(x); }
  Term tanh(Term x) const { return std::tanh(x); }
  Term sigmoid(Term x) const { return 1.0 / (1.0 + std::exp(-x)); }
  Term select(Term condition, Term x, Term y) const { return condition > 0.5 ? x : y; }
  std::optional<double> known(Term x) const { return x; }
  // clang-format on
};

/// The rules, for one algebra.
template <class Algebra>
struct Lowering {
  using Term = typename Algebra::Term;
  using Operands = std::span<const Term>;
  using Rule = std::function<Term(Algebra&, Operands, const ElementSettings&)>;

  struct Entry {
    std::size_t least;  ///< operands
    std::size_t most;
    bool condition;  ///< whether the result is one
    Rule rule;
  };

  static constexpr std::size_t kAny = 16;

  static Term invert(Algebra& a, Term x) { return a.subtract(a.constant(1.0), x); }
  static Term ceiling(Algebra& a, Term x) { return a.negate(a.floor(a.negate(x))); }
  /// Towards zero.
  static Term truncated(Algebra& a, Term x) {
    return a.select(a.less(x, a.constant(0.0)), ceiling(a, x), a.floor(x));
  }
  static Term positive(Algebra& a, Term x) { return a.maximum(a.constant(0.0), x); }
  /// To nearest, halves to even.
  static Term rounded(Algebra& a, Term x) {
    const Term low = a.floor(x);
    const Term rest = a.subtract(x, low);
    const Term half = a.constant(0.5);
    const Term pair = a.multiply(a.constant(2.0), a.floor(a.multiply(low, half)));
    const Term up = a.select(a.equal(rest, half), a.subtract(low, pair), a.less(half, rest));
    return a.add(low, up);
  }
  static Term remainder(Algebra& a, Term x, Term y, bool towards_zero) {
    const Term quotient = a.divide(x, y);
    const Term whole = towards_zero ? truncated(a, quotient) : a.floor(quotient);
    return a.subtract(x, a.multiply(whole, y));
  }
  /// x^y; small whole exponents by multiplication, which serves negative x too.
  static Term power(Algebra& a, Term x, Term y) {
    constexpr double kByMultiplying = 8.0;
    const std::optional<double> exponent = a.known(y);
    if (!exponent) return a.power(x, y);
    const double n = *exponent;
    if (n == 0.5) return a.square_root(x);
    if (n != std::floor(n) || std::fabs(n) > kByMultiplying) return a.power(x, y);
    Term product = a.constant(1.0);
    for (int i = 0; i < static_cast<int>(std::fabs(n)); ++i)
      product = i == 0 ? x : a.multiply(product, x);
    return n < 0.0 ? a.divide(a.constant(1.0), product) : product;
  }
  static Term converted(Algebra& a, Term x, const ElementSettings& settings) {
    if (settings.to == Kind::whole && settings.from == Kind::real) return truncated(a, x);
    if (settings.to == Kind::condition && settings.from != Kind::condition)
      return invert(a, a.equal(x, a.constant(0.0)));
    return x;
  }
  /// log(1 + e^x), without overflow.
  static Term softplus(Algebra& a, Term x) {
    const Term small = a.exponential(a.negate(a.absolute(x)));
    return a.add(positive(a, x), a.logarithm(a.add(a.constant(1.0), small)));
  }
  static Term clipped(Algebra& a, Operands x) {
    Term result = x[0];
    if (x.size() > 1) result = a.maximum(x[1], result);
    if (x.size() > 2) result = a.minimum(x[2], result);
    return result;
  }
  static Term sign(Algebra& a, Term x) {
    const Term zero = a.constant(0.0);
    return a.subtract(a.less(zero, x), a.less(x, zero));
  }

  // clang-format off
  static const std::map<std::string, Entry>& table() {
    static const std::map<std::string, Entry> kTable{
        {"Add", {2, 2, false, [](auto& a, Operands x, auto&) { return a.add(x[0], x[1]); }}},
        {"Sub", {2, 2, false, [](auto& a, Operands x, auto&) { return a.subtract(x[0], x[1]); }}},
        {"Mul", {2, 2, false, [](auto& a, Operands x, auto&) { return a.multiply(x[0], x[1]); }}},
        {"Div", {2, 2, false, [](auto& a, Operands x, auto& s) { const Term q = a.divide(x[0], x[1]); return s.from == Kind::real ? q : truncated(a, q); }}},
        {"Mod", {2, 2, false, [](auto& a, Operands x, auto& s) { return remainder(a, x[0], x[1], s.fmod); }}},
        {"Pow", {2, 2, false, [](auto& a, Operands x, auto&) { return power(a, x[0], x[1]); }}},
        {"Min", {1, kAny, false, [](auto& a, Operands x, auto&) { Term r = x[0]; for (const Term y : x.subspan(1)) r = a.minimum(r, y); return r; }}},
        {"Max", {1, kAny, false, [](auto& a, Operands x, auto&) { Term r = x[0]; for (const Term y : x.subspan(1)) r = a.maximum(r, y); return r; }}},
        {"Sum", {1, kAny, false, [](auto& a, Operands x, auto&) { Term r = x[0]; for (const Term y : x.subspan(1)) r = a.add(r, y); return r; }}},
        {"Mean", {1, kAny, false, [](auto& a, Operands x, auto&) { Term r = x[0]; for (const Term y : x.subspan(1)) r = a.add(r, y); return a.divide(r, a.constant(static_cast<double>(x.size()))); }}},
        {"Clip", {1, 3, false, [](auto& a, Operands x, auto&) { return clipped(a, x); }}},
        {"Neg", {1, 1, false, [](auto& a, Operands x, auto&) { return a.negate(x[0]); }}},
        {"Abs", {1, 1, false, [](auto& a, Operands x, auto&) { return a.absolute(x[0]); }}},
        {"Sign", {1, 1, false, [](auto& a, Operands x, auto&) { return sign(a, x[0]); }}},
        {"Floor", {1, 1, false, [](auto& a, Operands x, auto&) { return a.floor(x[0]); }}},
        {"Ceil", {1, 1, false, [](auto& a, Operands x, auto&) { return ceiling(a, x[0]); }}},
        {"Round", {1, 1, false, [](auto& a, Operands x, auto&) { return rounded(a, x[0]); }}},
        {"Exp", {1, 1, false, [](auto& a, Operands x, auto&) { return a.exponential(x[0]); }}},
        {"Log", {1, 1, false, [](auto& a, Operands x, auto&) { return a.logarithm(x[0]); }}},
        {"Sqrt", {1, 1, false, [](auto& a, Operands x, auto&) { return a.square_root(x[0]); }}},
        {"Reciprocal", {1, 1, false, [](auto& a, Operands x, auto&) { return a.divide(a.constant(1.0), x[0]); }}},
        {"Tanh", {1, 1, false, [](auto& a, Operands x, auto&) { return a.tanh(x[0]); }}},
        {"Sigmoid", {1, 1, false, [](auto& a, Operands x, auto&) { return a.sigmoid(x[0]); }}},
        {"HardSigmoid", {1, 1, false, [](auto& a, Operands x, auto& s) { return positive(a, a.minimum(a.constant(1.0), a.add(a.multiply(a.constant(s.alpha), x[0]), a.constant(s.beta)))); }}},
        {"Swish", {1, 1, false, [](auto& a, Operands x, auto& s) { return a.multiply(x[0], a.sigmoid(a.multiply(a.constant(s.alpha), x[0]))); }}},
        {"Relu", {1, 1, false, [](auto& a, Operands x, auto&) { return positive(a, x[0]); }}},
        {"LeakyRelu", {1, 1, false, [](auto& a, Operands x, auto& s) { return a.select(a.less(x[0], a.constant(0.0)), a.multiply(a.constant(s.alpha), x[0]), x[0]); }}},
        {"Elu", {1, 1, false, [](auto& a, Operands x, auto& s) { return a.select(a.less(x[0], a.constant(0.0)), a.multiply(a.constant(s.alpha), a.subtract(a.exponential(x[0]), a.constant(1.0))), x[0]); }}},
        {"Softplus", {1, 1, false, [](auto& a, Operands x, auto&) { return softplus(a, x[0]); }}},
        {"Softsign", {1, 1, false, [](auto& a, Operands x, auto&) { return a.divide(x[0], a.add(a.constant(1.0), a.absolute(x[0]))); }}},
        {"Identity", {1, 1, false, [](auto&, Operands x, auto&) { return x[0]; }}},
        {"Cast", {1, 1, false, [](auto& a, Operands x, auto& s) { return converted(a, x[0], s); }}},
        {"Where", {3, 3, false, [](auto& a, Operands x, auto&) { return a.select(x[0], x[1], x[2]); }}},
        {"Less", {2, 2, true, [](auto& a, Operands x, auto&) { return a.less(x[0], x[1]); }}},
        {"LessOrEqual", {2, 2, true, [](auto& a, Operands x, auto&) { return a.less_equal(x[0], x[1]); }}},
        {"Greater", {2, 2, true, [](auto& a, Operands x, auto&) { return a.less(x[1], x[0]); }}},
        {"GreaterOrEqual", {2, 2, true, [](auto& a, Operands x, auto&) { return a.less_equal(x[1], x[0]); }}},
        {"Equal", {2, 2, true, [](auto& a, Operands x, auto&) { return a.equal(x[0], x[1]); }}},
        {"And", {2, 2, true, [](auto& a, Operands x, auto&) { return a.multiply(x[0], x[1]); }}},
        {"Or", {2, 2, true, [](auto& a, Operands x, auto&) { return a.maximum(x[0], x[1]); }}},
        {"Xor", {2, 2, true, [](auto& a, Operands x, auto&) { return a.absolute(a.subtract(x[0], x[1])); }}},
        {"Not", {1, 1, true, [](auto& a, Operands x, auto&) { return invert(a, x[0]); }}},
        {"IsNaN", {1, 1, true, [](auto& a, Operands x, auto&) { return invert(a, a.equal(x[0], x[0])); }}},
        {"IsInf", {1, 1, true, [](auto& a, Operands x, auto&) { return a.equal(a.absolute(x[0]), a.constant(HUGE_VAL)); }}},
    };
    return kTable;
  }
  // clang-format on
};

}  // namespace attn::conformance
