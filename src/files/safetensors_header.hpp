/// The JSON header of a safetensors file, from text to checked tensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/files/safetensors.hpp"

namespace attn::files {

/// The key that holds the metadata and that no tensor may have as a name.
inline constexpr std::string_view kMetadataKey = "__metadata__";

/// The limit of the format's own library, in bytes.
inline constexpr std::uint64_t kMaxHeaderSize = 100'000'000;

/// "F32" and so on.
std::string_view safetensors_name(DType dtype);

struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

struct SafetensorsHeader {
  Metadata metadata;
  std::vector<SafetensorsEntry> entries;  ///< sorted by place
};

/// FileError unless the entries tile exactly `data_size` bytes under different names.
SafetensorsHeader parse_header(std::string_view text, std::uint64_t data_size,
                               const std::string& where);

}  // namespace attn::files
