/// Case: a small graph of ONNX operators with its inputs and the outputs it must have.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attn/files/safetensors.hpp"
#include "tools/conformance/array.hpp"

namespace attn::conformance {

/// An operator; "" stands for an input or output that is absent.
struct Node {
  std::string operation;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  nlohmann::json attributes;
};

struct Case {
  std::string name;
  std::map<std::string, std::int64_t> opset;  ///< version of each domain
  std::vector<Node> nodes;                    ///< in an order in which they can run
  std::map<std::string, Array> inputs;
  std::map<std::string, Array> outputs;
};

/// Reads a file; every damage is a FileError.
Case read_case(const std::filesystem::path& path);
Case read_case(const files::Safetensors& file);

/// Python writes NaN and infinities as bare words, which JSON does not have: here they become
/// text, which number_of() reads.
std::string quote_non_finite(std::string_view text);

/// A number, or the text of one that is not finite.
double number_of(const nlohmann::json& value, const std::string& where);

}  // namespace attn::conformance
