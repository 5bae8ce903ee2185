/// GraphArrays: the numbers of an ONNX graph, found by the node that uses them and brought back
/// from 8 bits where they are kept so.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/files/array.hpp"
#include "attn/files/onnx.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

/// Initialisers of such files are often called "onnx::MatMul_1493"; the nodes keep the names of
/// the modules they came from, so those are what is asked for. Every error is a FileError that
/// names the file and the node. The graph must stay.
class GraphArrays {
 public:
  explicit GraphArrays(const files::OnnxGraph& graph) : graph_(graph) {}

  /// The weight of a product, [out, in]: of the node NAME/MatMul, or of NAME/MatMul_quant, a
  /// MatMulInteger, as (q - zero point) scale.
  Tensor linear(const std::string& name, std::int64_t out, std::int64_t in) const;
  /// The weight of a convolution, [out, in, kernel]; of 8 bits as q scale + shift.
  Tensor convolution(const std::string& node, std::int64_t out, std::int64_t in,
                     std::int64_t kernel) const;
  /// The table of a Gather, [rows, features].
  Tensor table(const std::string& node) const;
  std::int64_t rows(const std::string& node) const;  ///< of that table
  /// The one array of real numbers that the node takes.
  Tensor operand(const std::string& node, const Shape& shape) const;
  /// The bias of a convolution.
  Tensor bias(const std::string& node, std::int64_t out) const;

  bool has(std::string_view node) const { return graph_.node(node) != nullptr; }
  const files::OnnxNode& node(const std::string& name) const;
  /// A whole number that the node takes as its input of that place.
  std::int64_t whole(const std::string& node, std::size_t input) const;
  /// An attribute of whole numbers, the only one or the first of equals.
  std::int64_t attribute(const std::string& node, const std::string& name) const;
  double real_attribute(const std::string& node, const std::string& name) const;
  /// One real number that the node takes.
  double real(const std::string& node) const;
  /// All the real numbers of the array that the node takes.
  std::vector<float> reals(const std::string& node) const;

  const std::string& where() const { return graph_.where(); }

 private:
  [[noreturn]] void refuse(const files::OnnxNode& node, const std::string& why) const;
  const std::string& input(const files::OnnxNode& node, std::size_t place) const;
  const files::ArrayView& array(const files::OnnxNode& node, std::size_t place) const;
  const files::ArrayView& operand_of(const files::OnnxNode& node) const;
  float number(const files::OnnxNode& node, const files::ArrayView& array) const;
  Tensor checked(const files::OnnxNode& node, Tensor tensor, const Shape& shape) const;

  const files::OnnxGraph& graph_;
};

}  // namespace attn::tasks
