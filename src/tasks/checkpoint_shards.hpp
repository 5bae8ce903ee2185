/// Arrays in several files of bounded size, for checkpoints that must be carried piece by
/// piece.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "attn/files/array.hpp"
#include "attn/files/safetensors.hpp"

namespace attn::tasks {

/// The smallest bound: room for a header and some elements.
inline constexpr std::uint64_t kLeastShardBytes = 4096;

/// The arrays in lists, each small enough for a safetensors file of `most` bytes. An array that
/// is larger than a file is cut into flat parts named "name[begin:end]", in elements.
std::vector<std::vector<files::ArrayView>> cut_into_shards(
    std::span<const files::ArrayView> arrays, std::uint64_t most);

/// What such files held, whole again.
class JoinedArrays {
 public:
  explicit JoinedArrays(std::vector<files::Safetensors> shards, std::string where);

  /// FileError when it is not there or a part of it is missing. The shape is that of the file,
  /// or flat when the array was cut.
  files::ArrayView at(const std::string& name);

 private:
  struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    const files::ArrayView* array = nullptr;
  };

  std::vector<files::Safetensors> shards_;
  std::map<std::string, std::vector<Part>> parts_;
  std::map<std::string, std::vector<std::byte>> joined_;
  std::string where_;
};

}  // namespace attn::tasks
