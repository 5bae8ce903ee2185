/// Small ONNX files for tests, written field by field.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

namespace attn::test {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value > 0x7F; value >>= 7U) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}

/// A field of bytes: text, a message, packed numbers.
inline std::string field(std::uint64_t id, const std::string& content) {
  return varint(id << 3U | 2U) + varint(content.size()) + content;
}
inline std::string number(std::uint64_t id, std::uint64_t value) {
  return varint(id << 3U) + varint(value);
}
inline std::string real(std::uint64_t id, float value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return varint(id << 3U | 5U) + bytes;
}
inline std::string packed_numbers(const std::vector<std::uint64_t>& values) {
  std::string bytes;
  for (const std::uint64_t value : values) bytes += varint(value);
  return bytes;
}

/// An array without its numbers; `type` is 1 for float, 2 for uint8, 3 for int8, 7 for int64.
inline std::string tensor_head(const std::string& name, std::uint64_t type,
                               const std::vector<std::int64_t>& shape) {
  std::string bytes;
  for (const std::int64_t extent : shape)
    bytes += number(1, static_cast<std::uint64_t>(extent));
  return bytes + number(2, type) + field(8, name);
}

template <class T>
std::string raw_tensor(const std::string& name, std::uint64_t type,
                       const std::vector<std::int64_t>& shape, const std::vector<T>& values) {
  std::string raw(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(raw.data(), values.data(), raw.size());
  return tensor_head(name, type, shape) + field(9, raw);
}

inline std::string onnx_node(const std::string& op, const std::string& name,
                             const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs) {
  std::string bytes;
  for (const std::string& input : inputs) bytes += field(1, input);
  for (const std::string& output : outputs) bytes += field(2, output);
  return bytes + field(3, name) + field(4, op);
}

/// A model of these nodes (field 1) and arrays (field 5).
inline std::string onnx_model(const std::string& graph) {
  return field(7, graph);
}

}  // namespace attn::test
