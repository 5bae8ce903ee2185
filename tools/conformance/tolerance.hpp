/// How far a result may be from a stored one, all in one place.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/dtype.hpp"

namespace attn::conformance {

/// |got - want| <= absolute + relative * |want|.
struct Tolerance {
  double relative = 0.0;
  double absolute = 0.0;
};

/// ONNX's own limits for f32 and f64. ONNX computes 16-bit cases in 16 bits, rounding the
/// scores, the weights and the sums, while attn only stores in 16 bits and adds up in fp32; so
/// those get two units in the last place and, for what is small beside the values it was made
/// of, one unit of a number near 1. Whole numbers and booleans must be equal.
constexpr Tolerance tolerance_of(DType dtype) {
  constexpr double kRelative = 1e-3;
  constexpr double kAbsolute = 1e-7;
  switch (dtype) {
    case DType::f64:
    case DType::f32:
      return {kRelative, kAbsolute};
    case DType::f16:
      return {2 * 0x1p-10, 0x1p-10};
    case DType::bf16:
      return {2 * 0x1p-7, 0x1p-7};
    default:
      return {};
  }
}

}  // namespace attn::conformance
