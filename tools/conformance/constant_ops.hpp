/// Constants of a graph, and the operations that only arrange them: shapes, ranges, slices.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/conformance/array.hpp"
#include "tools/conformance/lowering.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {

/// A tensor whose numbers are known.
struct Constant {
  Kind kind = Kind::real;
  Shape shape;
  std::vector<double> numbers;
};

std::int64_t volume(const Shape& shape);

/// A number or nested lists of them, as JSON has them.
Constant constant_of(const nlohmann::json& value, const std::string& where);

/// The shape that two have together; FileError if they do not fit.
Shape broadcast(const Shape& a, const Shape& b);

/// Reads the attributes of an elementwise operation.
ElementSettings element_settings(const std::string& operation, Kind from,
                                 Attributes& attributes);

/// ONNX Shape, with its start and end.
Constant shape_of(const Shape& shape, Attributes& attributes);

/// The shape that Reshape, Unsqueeze, Squeeze or Expand gives; `wanted` is their second input.
Shape reshaped(const std::string& operation, const Shape& shape, const Constant* wanted,
               Attributes& attributes);

/// Whether an operation arranges constants: Shape, and what constant_op() knows.
bool is_constant_op(const std::string& operation);

/// Any other operation of constants; FileError if it is not known.
Constant constant_op(const std::string& operation, const std::vector<const Constant*>& operands,
                     Attributes& attributes);

}  // namespace attn::conformance
