/// NumPy's .npy: one array in one file.
/// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/files/array.hpp"
#include "attn/files/read_file.hpp"

namespace attn::files {

/// An array from an .npy file, in C order whatever the file's order was.
class Npy {
 public:
  Npy(std::string where, DType dtype, std::vector<std::int64_t> shape, Bytes data)
      : where_(std::move(where)),
        dtype_(dtype),
        shape_(std::move(shape)),
        data_(std::move(data)) {}

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::span<const std::byte> bytes() const { return data_.span(); }

  /// The elements, copied or in place; FileError when they are of another type than T.
  template <class T>
  std::vector<T> as() const {
    check_dtype(kDType<T>, dtype_, where_);
    return copy_as<T>(bytes());
  }
  template <class T>
  std::span<const T> view() const {
    check_dtype(kDType<T>, dtype_, where_);
    return view_as<T>(bytes(), where_);
  }

 private:
  std::string where_;
  DType dtype_;
  std::vector<std::int64_t> shape_;
  Bytes data_;
};

/// Reads versions 1 to 3 with elements f8 f4 f2 i8 i4 i2 i1 u1 b1, little endian. Anything
/// else, and every damage, is a FileError; no object is ever unpickled.
Npy read_npy(const std::filesystem::path& path);

/// The same from memory; `where` begins the messages.
Npy parse_npy(std::span<const std::byte> bytes, std::string_view where);

/// Replaces the file atomically (version 1). The name in `array` is not stored; bf16 is
/// Unsupported, because NumPy has none.
void write_npy(const std::filesystem::path& path, const ArrayView& array);

}  // namespace attn::files
