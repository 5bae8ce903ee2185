// SPDX-License-Identifier: Apache-2.0

#include "attn/files/array.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"

namespace attn::files {

static_assert(std::endian::native == std::endian::little,
              "files hold little-endian numbers and are read without swapping");

namespace {

template <class E>
void check_booleans(DType dtype, std::span<const std::byte> bytes, const std::string& where) {
  if (dtype != DType::boolean) return;
  const auto bad = std::ranges::find_if(bytes, [](std::byte b) { return b > std::byte{1}; });
  if (bad != bytes.end())
    fail<E>(where, ": element ", bad - bytes.begin(), " is ", std::to_integer<int>(*bad),
            "; a boolean is 0 or 1");
}

}  // namespace

std::optional<std::uint64_t> byte_count(std::span<const std::int64_t> shape, DType dtype) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t bytes = size_of(dtype);
  bool empty = false;
  for (const std::int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    if (dim == 0) {
      empty = true;
      continue;
    }
    if (bytes > kMax / static_cast<std::uint64_t>(dim)) return std::nullopt;
    bytes *= static_cast<std::uint64_t>(dim);
  }
  return empty ? 0 : bytes;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t dim : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(dim);
  }
  return text + "]";
}

void validate(const ArrayView& array, const std::string& where) {
  if (array.shape.size() > kMaxRank)
    fail(where, ": ", array.shape.size(), " dimensions; accepted: at most ", kMaxRank);
  const auto bytes = byte_count(array.shape, array.dtype);
  if (!bytes || *bytes != array.bytes.size())
    fail(where, ": ", array.bytes.size(), " bytes; shape ", shape_text(array.shape), " of ",
         name_of(array.dtype), bytes ? " takes " + std::to_string(*bytes) : " cannot be");
  check_booleans<InvalidArgument>(array.dtype, array.bytes, where);
}

void check_elements(DType dtype, std::span<const std::byte> bytes, const std::string& where) {
  check_booleans<FileError>(dtype, bytes, where);
}

void check_dtype(DType wanted, DType seen, const std::string& where) {
  if (wanted != seen)
    fail<FileError>(where, " holds ", name_of(seen), "; ", name_of(wanted), " was asked for");
}

void check_alignment(const std::byte* data, std::size_t alignment, const std::string& where) {
  const std::size_t past = reinterpret_cast<std::uintptr_t>(data) % alignment;
  if (past != 0)
    fail<FileError>(where, " lies ", past, " bytes past a multiple of ", alignment,
                    " in the file's data; only a copy of it can be had");
}

}  // namespace attn::files
