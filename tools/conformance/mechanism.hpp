/// Cases of mechanisms: inputs, parameters, outputs and gradients of the formulas of the
/// literature, run through the registry of attn::nn.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "attn/core/dtype.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/tensor/tensor.hpp"
#include "tools/conformance/compare.hpp"

namespace attn::conformance {

/// Whether the file holds a case of a mechanism.
bool is_mechanism(const files::Safetensors& file);

/// Runs the case in an element type on a device and compares every output and gradient that the
/// file holds; the one that is furthest off, if any is. An unknown mechanism or option is an
/// error.
std::optional<Difference> check_mechanism(const files::Safetensors& file, DType dtype,
                                          Device device);

}  // namespace attn::conformance
