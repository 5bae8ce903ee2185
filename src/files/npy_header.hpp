/// The header of an .npy file: a Python dictionary with three known keys.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/dtype.hpp"

namespace attn::files {

enum class Order { c, fortran };

struct NpyHeader {
  DType dtype = DType::f32;
  Order order = Order::c;
  std::vector<std::int64_t> shape;
};

/// FileError unless `text` is `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`
/// with any spacing and order of keys.
NpyHeader parse_npy_header(std::string_view text, const std::string& where);

/// "<f4"; empty for what NumPy does not have.
std::string_view npy_descr(DType dtype);

}  // namespace attn::files
