/// OnnxGraph: the arrays that an ONNX file holds, and the names of the nodes that use them.
/// Nothing is run: a network written in C++ takes its numbers from here.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "attn/files/array.hpp"
#include "attn/files/read_file.hpp"

namespace attn::files {

struct OnnxNode {
  std::string op;  ///< "MatMul"
  std::string name;
  std::vector<std::string> inputs;  ///< names of arrays, or of what other nodes make
  std::vector<std::string> outputs;
  // Its attributes by name; what else there is, is left out.
  std::map<std::string, std::vector<std::int64_t>> integers;
  std::map<std::string, float> reals;
};

/// The file is checked whole before anything is told: field kinds, lengths, shapes against the
/// bytes that are there. Every error is a FileError that names the file and the byte. Graphs
/// inside nodes (If, Loop) are read as if they were part of the graph; of nodes of one name,
/// as the two branches of an If have them, the first counts.
class OnnxGraph {
 public:
  /// A file larger than `max_bytes` is refused before it is read.
  static OnnxGraph read(const std::filesystem::path& path, std::uint64_t max_bytes);
  /// `where` begins the messages.
  OnnxGraph(Bytes content, std::string where);

  const std::vector<OnnxNode>& nodes() const { return nodes_; }
  /// Null where there is none of that name.
  const OnnxNode* node(std::string_view name) const;
  const OnnxNode* maker_of(std::string_view output) const;
  /// f32, f64, f16, bf16, whole numbers or booleans. Null where there is none of that name.
  const ArrayView* array(std::string_view name) const;

  const std::string& where() const { return where_; }

 private:
  class Reader;

  std::string where_;
  Bytes content_;
  std::list<std::vector<std::byte>> unpacked_;  ///< of arrays that are no plain bytes there
  std::vector<OnnxNode> nodes_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::unordered_map<std::string, std::size_t> by_output_;
  std::unordered_map<std::string, ArrayView> arrays_;  ///< point into content_ and unpacked_
};

}  // namespace attn::files
