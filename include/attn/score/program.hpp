/// Program: a score modifier that is only known at run time, as a short list of instructions
/// such as an ONNX graph becomes. A functor written in C++ is faster; this one needs no
/// compiler.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "attn/core/concepts.hpp"
#include "attn/core/table.hpp"

namespace attn::score {

/// What an instruction computes from earlier results x, y, z. Conditions are 1 and 0.
enum class Operation : std::uint8_t {
  constant,  ///< constants[a]
  score,     ///< s
  batch,     ///< the position of the score
  head,
  query,
  key,
  table_value,  ///< entry 0 of table a
  table_along,  ///< the entry of the score's own key in table a
  add,          ///< x + y
  subtract,
  multiply,
  divide,
  power,  ///< x^y for x >= 0
  minimum,
  maximum,
  less,  ///< x < y
  less_equal,
  equal,
  negate,  ///< -x
  absolute,
  floor,
  exponential,
  logarithm,
  square_root,
  tanh,
  sigmoid,
  select,  ///< y where x > 1/2, else z
};

/// The operands are indices of earlier instructions, or an index of a constant or table.
struct Instruction {
  Operation operation = Operation::score;
  std::uint8_t a = 0;
  std::uint8_t b = 0;
  std::uint8_t c = 0;
};

/// s' = the last instruction's result. Instructions name earlier ones alone, so a program
/// always ends; `count` is at least 1. Gradients come from dual numbers.
struct Program {
  static constexpr int kTables = kMaxTables;
  static constexpr int kMaxInstructions = 28;
  static constexpr int kMaxConstants = 16;

  Instruction code[kMaxInstructions] = {};
  float constants[kMaxConstants] = {};
  std::uint8_t count = 1;

  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    V results[kMaxInstructions];
    for (int i = 0; i < count; ++i) results[i] = run(code[i], results, s, at, p);
    return results[count - 1];
  }

 private:
  template <class V, class P>
  ATTN_FN V run(const Instruction& step, const V* results, const V& s, const Site<V>& at,
                const P& p) const {
    const V yes(1.0f);
    const V no(0.0f);
    // Steps without operands name result 0, which is a number by then or is not read.
    switch (step.operation) {
      case Operation::constant:
        return V(constants[step.a]);
      case Operation::score:
        return s;
      case Operation::batch:
        return V(static_cast<float>(at.batch));
      case Operation::head:
        return V(static_cast<float>(at.head));
      case Operation::query:
        return V(static_cast<float>(at.q));
      case Operation::key:
        return real<V>(at.k);
      case Operation::table_value:
        return V(p.value(step.a));
      case Operation::table_along:
        return V(p.along(step.a, at));
      case Operation::add:
        return results[step.a] + results[step.b];
      case Operation::subtract:
        return results[step.a] - results[step.b];
      case Operation::multiply:
        return results[step.a] * results[step.b];
      case Operation::divide:
        return results[step.a] / results[step.b];
      case Operation::power: {
        const V x = results[step.a];
        const V y = results[step.b];
        // 0^0 is 1, and 0 * log(0) would be NaN.
        const V zeroth = select(y > no, no, select(y < no, V(kInfinity), yes));
        return select(x > no, exp(y * log(select(x > no, x, yes))), zeroth);
      }
      case Operation::minimum:
        return min(results[step.a], results[step.b]);
      case Operation::maximum:
        return max(results[step.a], results[step.b]);
      case Operation::less:
        return select(results[step.a] < results[step.b], yes, no);
      case Operation::less_equal:
        return select(results[step.a] <= results[step.b], yes, no);
      case Operation::equal:
        return select(
            (results[step.a] <= results[step.b]) & (results[step.a] >= results[step.b]), yes,
            no);
      case Operation::negate:
        return -results[step.a];
      case Operation::absolute:
        return abs(results[step.a]);
      case Operation::floor:
        return floor(results[step.a]);
      case Operation::exponential:
        return exp(results[step.a]);
      case Operation::logarithm:
        return log(results[step.a]);
      case Operation::square_root:
        return sqrt(results[step.a]);
      case Operation::tanh:
        return tanh(results[step.a]);
      case Operation::sigmoid:
        return sigmoid(results[step.a]);
      case Operation::select:
        return select(results[step.a] > V(0.5f), results[step.b], results[step.c]);
    }
    return s;
  }
};

static_assert(ScoreFunctor<Program>);

}  // namespace attn::score
