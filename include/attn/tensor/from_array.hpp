/// Arrays of files as tensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/files/array.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {

/// The array's numbers, copied, in its own element type.
Tensor from_array(const files::ArrayView& array);

}  // namespace attn
