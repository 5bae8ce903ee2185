/// The attribute softmax_precision, which two operators share.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>

#include "attn/core/dtype.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {

/// The dtype of an ONNX number for a float type, or none.
std::optional<DType> float_dtype_of(std::int64_t onnx);

/// FileError unless it is absent or names a float type. The kernels always take fp32, the
/// reference double, which is at least as precise; see tolerance_of() for a coarser one.
void check_softmax_precision(Attributes& attributes);

}  // namespace attn::conformance
