/// DLPack: tensors of other libraries without a copy, and ours for them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/tensor/tensor.hpp"

struct DLManagedTensor;  // <dlpack/dlpack.h>

namespace attn {

/// The same numbers for another library, without their history: whoever takes them calls the
/// deleter once. The tape does not see what is written through them.
DLManagedTensor* to_dlpack(const Tensor& x);

/// A tensor over the numbers of another library, with any strides of 0 and more. The deleter is
/// called when the last tensor that shares them is gone; when this throws, `managed` is still
/// the caller's. Accepted are f64, f32, f16, bf16, i64 and boolean numbers in the memory of the
/// CPU; anything else is Unsupported.
Tensor from_dlpack(DLManagedTensor* managed);

}  // namespace attn
