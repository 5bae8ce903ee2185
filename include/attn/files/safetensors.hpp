/// safetensors: named arrays in one file (8-byte header length, JSON header, data).
/// Format: https://github.com/huggingface/safetensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/files/array.hpp"
#include "attn/files/read_file.hpp"

namespace attn::files {

using Metadata = std::map<std::string, std::string>;

/// What a safetensors file holds. Owns the data, so views end with it; moving keeps them.
class Safetensors {
 public:
  /// `tensors` point into `data` and are sorted by place there, as the readers below do.
  Safetensors(std::string where, Metadata metadata, std::vector<ArrayView> tensors, Bytes data);

  const Metadata& metadata() const { return metadata_; }

  /// In the order of their data.
  std::span<const ArrayView> tensors() const { return tensors_; }

  /// Null when there is none of that name.
  const ArrayView* find(std::string_view name) const;

  /// FileError when there is none of that name.
  const ArrayView& at(std::string_view name) const;

  /// The elements, copied; FileError when the tensor holds another type than T. Any file works.
  template <class T>
  std::vector<T> as(std::string_view name) const {
    return copy_as<T>(typed(name, kDType<T>).bytes);
  }

  /// The elements in place. Also a FileError when the file holds them unaligned, which no file
  /// written here does.
  template <class T>
  std::span<const T> view(std::string_view name) const {
    return view_as<T>(typed(name, kDType<T>).bytes, describe(name));
  }

 private:
  const ArrayView& typed(std::string_view name, DType dtype) const;
  std::string describe(std::string_view name) const;

  std::string where_;
  Metadata metadata_;
  std::vector<ArrayView> tensors_;
  std::vector<std::size_t> by_name_;  ///< indices of tensors_, sorted by name
  Bytes data_;
};

/// Reads a file; every damage is a FileError that names it. The header is checked against the
/// size of the file before memory for the data is taken. Gaps between tensors are refused, as
/// the format says.
Safetensors read_safetensors(const std::filesystem::path& path);

/// The same from memory; the data are copied. `where` begins the messages.
Safetensors parse_safetensors(std::span<const std::byte> bytes, std::string_view where);

/// Replaces the file atomically. Wide elements come first, so all are aligned; the same
/// arguments give the same bytes. Names must differ and be UTF-8.
void write_safetensors(const std::filesystem::path& path, std::span<const ArrayView> tensors,
                       const Metadata& metadata = {});

}  // namespace attn::files
