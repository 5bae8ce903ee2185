/// GraphWeights: the named arrays of a TensorFlow.js graph model, a manifest and its shards.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

#include "attn/files/array.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

/// The graph itself is not run: a network written in C++ asks for the arrays by name. Every
/// error is a FileError that names the file and the array.
class GraphWeights {
 public:
  /// Reads model.json of the folder and the shards its manifest names. Sizes must agree to the
  /// byte and every real number must be finite.
  explicit GraphWeights(const std::filesystem::path& folder);

  /// The f32 array of that name; an extent of -1 in `shape` takes any.
  Tensor tensor(std::string_view name, const Shape& shape) const;
  /// One number.
  double real(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;

  const std::string& where() const { return where_; }  ///< for messages

 private:
  const files::ArrayView& find(std::string_view name) const;
  void read_manifest(const std::filesystem::path& folder);
  void check_finite() const;

  std::string where_;
  files::Bytes data_;
  std::unordered_map<std::string, files::ArrayView> arrays_;  ///< point into data_
};

}  // namespace attn::tasks
