/// Matrices of saved states as whole numbers of one byte and a scale a row.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "attn/files/array.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::nn {

/// Where the scales of the rows of `name` are.
std::string scale_name(const std::string& name);

/// Whether the array is bytes that a scale in the same file belongs to.
bool is_compressed(const files::Safetensors& file, const files::ArrayView& array);

/// Its weights, each rounded to bf16: the models' products stream weights that fit into 16
/// bits.
Tensor expanded(const files::Safetensors& file, const files::ArrayView& array);

}  // namespace attn::nn
