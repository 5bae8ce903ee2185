// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/graph_arrays.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/onnx.hpp"
#include "attn/files/printable.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {
namespace {

using files::ArrayView;
using files::OnnxNode;

Shape shape_of(const ArrayView& array, const std::string& where) {
  if (array.shape.size() > static_cast<std::size_t>(Shape::kMaxRank))
    fail<FileError>(where, ": ", files::in_quotes(array.name, 200), " has ", array.shape.size(),
                    " axes; up to ", Shape::kMaxRank, " are read");
  return Shape(std::span<const std::int64_t>(array.shape));
}

/// A whole number of 8 bits, of the type of the array.
int small_number(const ArrayView& array, std::byte byte) {
  const auto value = std::to_integer<std::uint8_t>(byte);
  return array.dtype == DType::u8 ? int{value} : int{static_cast<std::int8_t>(value)};
}

bool is_small(const ArrayView& array) {
  return array.dtype == DType::u8 || array.dtype == DType::i8;
}

/// (q - zero) scale.
Tensor dequantised(const ArrayView& array, int zero, float scale, const std::string& where) {
  std::array<float, 256> levels{};
  for (std::size_t i = 0; i < levels.size(); ++i)
    levels[i] =
        static_cast<float>(small_number(array, static_cast<std::byte>(i)) - zero) * scale;
  const Tensor values = Tensor::empty(shape_of(array, where));
  std::transform(array.bytes.begin(), array.bytes.end(), values.mutable_data<float>(),
                 [&](std::byte q) { return levels[std::to_integer<std::size_t>(q)]; });
  return values;
}

Tensor floats(const ArrayView& array, const std::string& where) {
  return Tensor::from(files::copy_as<float>(array.bytes), shape_of(array, where));
}

}  // namespace

void GraphArrays::refuse(const OnnxNode& node, const std::string& why) const {
  fail<FileError>(where(), ": the node ", files::in_quotes(node.name, 200), " ", why);
}

const OnnxNode& GraphArrays::node(const std::string& name) const {
  const OnnxNode* node = graph_.node(name);
  if (node == nullptr)
    fail<FileError>(where(), ": there is no node ", files::in_quotes(name, 200),
                    "; is this a Moonshine model?");
  return *node;
}

const std::string& GraphArrays::input(const OnnxNode& node, std::size_t place) const {
  if (place >= node.inputs.size())
    refuse(node, "has " + std::to_string(node.inputs.size()) + " inputs; input " +
                     std::to_string(place) + " is needed");
  return node.inputs[place];
}

const ArrayView& GraphArrays::array(const OnnxNode& node, std::size_t place) const {
  const std::string& name = input(node, place);
  const ArrayView* array = graph_.array(name);
  if (array == nullptr)
    refuse(node, "takes " + files::in_quotes(name, 200) + ", which is no array of the file");
  return *array;
}

const ArrayView& GraphArrays::operand_of(const OnnxNode& node) const {
  const ArrayView* found = nullptr;
  for (const std::string& name : node.inputs) {
    const ArrayView* array = graph_.array(name);
    if (array == nullptr || array->dtype != DType::f32) continue;
    if (found != nullptr) refuse(node, "takes two arrays of real numbers; one is read");
    found = array;
  }
  if (found == nullptr) refuse(node, "takes no array of real numbers");
  return *found;
}

float GraphArrays::number(const OnnxNode& node, const ArrayView& array) const {
  if (array.dtype != DType::f32 || array.bytes.size() != sizeof(float))
    refuse(node,
           "needs one real number, and " + files::in_quotes(array.name, 200) + " is none");
  return files::copy_as<float>(array.bytes)[0];
}

Tensor GraphArrays::checked(const OnnxNode& node, Tensor tensor, const Shape& shape) const {
  bool fits = tensor.rank() == shape.rank();
  for (int axis = 0; fits && axis < shape.rank(); ++axis)
    fits = tensor.size(axis) > 0 && (shape[axis] == -1 || shape[axis] == tensor.size(axis));
  if (!fits)
    refuse(node, "has numbers of shape " + files::shape_text(tensor.shape().span()) + "; " +
                     files::shape_text(shape.span()) + " is needed, -1 being any");
  const float* at = tensor.data<float>();
  if (!std::all_of(at, at + tensor.numel(), [](float x) { return std::isfinite(x); }))
    refuse(node, "has numbers that are not finite");
  return tensor;
}

Tensor GraphArrays::linear(const std::string& name, std::int64_t out, std::int64_t in) const {
  if (!has(name + "/MatMul_quant")) {
    const OnnxNode& product = node(name + "/MatMul");
    return checked(product, floats(operand_of(product), where()), {in, out})
        .transpose(0, 1)
        .contiguous();
  }
  const OnnxNode& product = node(name + "/MatMul_quant");
  const OnnxNode& scales = node(name + "/MatMul_quant_scales_mul");
  const ArrayView& weight = array(product, 1);
  const ArrayView& zero = array(product, 3);
  if (!is_small(weight) || zero.dtype != weight.dtype || zero.bytes.size() != 1)
    refuse(product, "needs 8-bit numbers and one zero point of their type");
  const float scale = number(scales, array(scales, 1));
  return checked(product,
                 dequantised(weight, small_number(zero, zero.bytes[0]), scale, where()),
                 {in, out})
      .transpose(0, 1)
      .contiguous();
}

Tensor GraphArrays::convolution(const std::string& name, std::int64_t out, std::int64_t in,
                                std::int64_t kernel) const {
  const OnnxNode& product = node(name);
  const Shape shape{out, in, kernel};
  if (const ArrayView* plain = graph_.array(input(product, 1));
      plain != nullptr && plain->dtype == DType::f32)
    return checked(product, floats(*plain, where()), shape);
  // Cast(q) * scale + shift.
  const auto made_by = [&](const OnnxNode& user, std::size_t place,
                           const char* op) -> const OnnxNode& {
    const OnnxNode* maker = graph_.maker_of(input(user, place));
    if (maker == nullptr || maker->op != op)
      refuse(product, "has no weight of 8 bits as Add(Mul(Cast(q), scale), shift)");
    return *maker;
  };
  const OnnxNode& shifted = made_by(product, 1, "Add");
  const OnnxNode& scaled = made_by(shifted, 0, "Mul");
  const OnnxNode& cast = made_by(scaled, 0, "Cast");
  const ArrayView& weight = array(cast, 0);
  if (!is_small(weight)) refuse(cast, "does not take 8-bit numbers");
  const float scale = number(scaled, array(scaled, 1));
  const float shift = number(shifted, array(shifted, 1));
  const Tensor values = dequantised(weight, 0, scale, where());
  float* at = values.mutable_data<float>();
  std::transform(at, at + values.numel(), at, [&](float x) { return x + shift; });
  return checked(product, values, shape);
}

Tensor GraphArrays::table(const std::string& name) const {
  const OnnxNode& gather = node(name);
  const ArrayView& rows = array(gather, 0);
  if (rows.dtype == DType::f32) return checked(gather, floats(rows, where()), {-1, -1});
  const OnnxNode& back = node(name + "_output_0_DequantizeLinear");
  const ArrayView& zero = array(back, 2);
  if (!is_small(rows) || zero.dtype != rows.dtype || zero.bytes.size() != 1)
    refuse(gather, "needs 8-bit numbers and one zero point of their type");
  return checked(gather,
                 dequantised(rows, small_number(zero, zero.bytes[0]),
                             number(back, array(back, 1)), where()),
                 {-1, -1});
}

std::int64_t GraphArrays::rows(const std::string& name) const {
  const OnnxNode& gather = node(name);
  const ArrayView& table = array(gather, 0);
  if (table.shape.size() != 2) refuse(gather, "has a table that is no matrix");
  return table.shape[0];
}

Tensor GraphArrays::operand(const std::string& name, const Shape& shape) const {
  const OnnxNode& user = node(name);
  return checked(user, floats(operand_of(user), where()), shape);
}

Tensor GraphArrays::bias(const std::string& name, std::int64_t out) const {
  const OnnxNode& user = node(name);
  const ArrayView& bias = array(user, 2);
  if (bias.dtype != DType::f32) refuse(user, "has a bias that is not of real numbers");
  return checked(user, floats(bias, where()), {out});
}

std::int64_t GraphArrays::whole(const std::string& name, std::size_t place) const {
  const OnnxNode& user = node(name);
  const ArrayView& number = array(user, place);
  if (number.dtype != DType::i64 || number.bytes.size() != sizeof(std::int64_t))
    refuse(user,
           "needs one whole number, and " + files::in_quotes(number.name, 200) + " is none");
  return files::copy_as<std::int64_t>(number.bytes)[0];
}

std::int64_t GraphArrays::attribute(const std::string& name, const std::string& which) const {
  const OnnxNode& user = node(name);
  const auto at = user.integers.find(which);
  if (at == user.integers.end()) refuse(user, "has no attribute " + which);
  return at->second.front();
}

double GraphArrays::real_attribute(const std::string& name, const std::string& which) const {
  const OnnxNode& user = node(name);
  const auto at = user.reals.find(which);
  if (at == user.reals.end()) refuse(user, "has no attribute " + which);
  return static_cast<double>(at->second);
}

double GraphArrays::real(const std::string& name) const {
  const OnnxNode& user = node(name);
  return static_cast<double>(number(user, operand_of(user)));
}

std::vector<float> GraphArrays::reals(const std::string& name) const {
  return files::copy_as<float>(operand_of(node(name)).bytes);
}

}  // namespace attn::tasks
