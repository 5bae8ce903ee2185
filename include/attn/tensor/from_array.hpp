/// Arrays of files as tensors, and back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "attn/files/array.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn {

/// The array's numbers, copied, in its own element type.
Tensor from_array(const files::ArrayView& array);

/// A packed tensor's numbers where they lie, under a name; the tensor must stay.
files::ArrayView to_array(std::string name, const Tensor& packed);

}  // namespace attn
