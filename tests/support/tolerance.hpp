/// Tolerances of the tests, by element type and length, all in one place.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cmath>

#include "attn/core/dtype.hpp"

namespace attn::test {

/// Half the distance from 1 to the next number.
constexpr double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-53;
    case DType::bf16:
      return 0x1p-8;
    case DType::f16:
      return 0x1p-11;
    default:
      return 0x1p-24;
  }
}

/// What a sum of `length` products may be off by, relative to 1 + |expected|: roundings grow
/// with the square root of the length, and 16-bit types store but do not accumulate.
inline double tolerance(DType dtype, int length = 1) {
  constexpr double kRoundings = 16.0;  // of the functions on the way to a term
  const double accumulate = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double store =
      dtype == DType::f64 || dtype == DType::f32 ? 0.0 : 2 * unit_roundoff(dtype);
  return store + kRoundings * accumulate * std::sqrt(static_cast<double>(length));
}

/// The same for gradients: `length` products are summed, and where storage has 16 bits the
/// output that backward reads was rounded, once for each of `rows` rows.
inline double gradient_tolerance(DType dtype, int length, int rows) {
  const double store =
      dtype == DType::f64 || dtype == DType::f32 ? 0.0 : 2 * unit_roundoff(dtype);
  return tolerance(dtype, length) + store * std::sqrt(static_cast<double>(rows));
}

/// Central differences in double: a step that balances truncation (h^2) and rounding (2^-53 /
/// h).
inline constexpr double kDifferenceStep = 1e-5;
inline constexpr double kDifferenceTolerance = 1e-8;

/// What whole results may be off by, absolute: by the type they are computed in, and by how
/// much is computed. Tests name one of these; a number of their own would say nothing of why it
/// holds.
inline constexpr double kDouble = 1e-14;      ///< a few roundings
inline constexpr double kDoubleSum = 1e-12;   ///< a short sum
inline constexpr double kDoubleScore = 1e-9;  ///< a metric, a layer
inline constexpr double kFloat = 2e-6;        ///< a few roundings of numbers near 1
inline constexpr double kFloatSum = 1e-5;     ///< a sum, a layer
inline constexpr double kFloatModel = 1e-4;   ///< a whole model, a log-probability of a text
inline constexpr double kFloatTraining =
    1e-3;  ///< steps of training; what is printed with three digits

/// |got - want| <= within * (1 + |want|).
inline testing::AssertionResult close(double got, double want, double within) {
  if (got == want || std::fabs(got - want) <= within * (1.0 + std::fabs(want)))
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "got " << got << ", want " << want << ", off by " << std::fabs(got - want)
         << ", allowed " << within * (1.0 + std::fabs(want));
}

}  // namespace attn::test
