// SPDX-License-Identifier: Apache-2.0

#include "attn/files/npy.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/bytes.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "files/npy_header.hpp"

namespace attn::files {
namespace {

using namespace std::string_view_literals;

constexpr auto kMagic = "\x93NUMPY"sv;
constexpr std::uint64_t kPreludeSize = 8;  // magic, major and minor version

/// Longer ones are for structured elements, which are not accepted.
constexpr std::uint64_t kMaxHeaderSize = 65'535;

/// Copies an array whose first dimension is fastest into one whose last is.
Bytes to_c_order(const Bytes& from, std::span<const std::int64_t> shape, std::size_t element,
                 const std::string& where) {
  Bytes to = allocate(from.size(), where);
  std::vector<std::size_t> strides;  // bytes, in `from`
  std::size_t stride = element;
  for (const std::int64_t dim : shape) {
    strides.push_back(stride);
    stride *= static_cast<std::size_t>(dim);
  }
  std::vector<std::int64_t> index(shape.size(), 0);
  std::size_t source = 0;
  for (std::size_t done = 0; done < to.size(); done += element) {
    std::memcpy(to.data() + done, from.data() + source, element);
    for (std::size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < shape[d]) break;
      source -= strides[d] * static_cast<std::size_t>(shape[d]);
      index[d] = 0;
    }
  }
  return to;
}

/// `read_at(offset, span)` fills the span from the file or the memory.
template <class ReadAt>
Npy load(std::uint64_t size, const std::string& where, const ReadAt& read_at) {
  const auto check_room = [&](std::uint64_t bytes) {
    if (size < bytes)
      fail<FileError>(where, ": the file ends at byte ", size, "; its header goes to ", bytes);
  };
  check_room(kPreludeSize);
  std::array<char, kPreludeSize> prelude = {};
  read_at(0, std::as_writable_bytes(std::span(prelude)));
  const std::string_view magic(prelude.data(), kMagic.size());
  if (magic != kMagic)
    fail<FileError>(where, ": begins with ", in_quotes(magic), "; an .npy file with ",
                    in_quotes(kMagic));
  const int major = static_cast<unsigned char>(prelude[6]);
  const int minor = static_cast<unsigned char>(prelude[7]);
  if (major < 1 || major > 3 || minor != 0)
    fail<FileError>(where, ": version ", major, ".", minor, "; accepted: 1.0, 2.0, 3.0");

  const std::uint64_t length_size = major == 1 ? 2 : 4;
  check_room(kPreludeSize + length_size);
  std::uint64_t header_size = 0;
  read_at(kPreludeSize, std::as_writable_bytes(std::span(&header_size, 1)).first(length_size));
  if (header_size > kMaxHeaderSize)
    fail<FileError>(where, ": a header of ", header_size, " bytes; accepted: at most ",
                    kMaxHeaderSize);
  const std::uint64_t data_begin = kPreludeSize + length_size + header_size;
  check_room(data_begin);
  std::string text(header_size, '\0');
  read_at(kPreludeSize + length_size, std::as_writable_bytes(std::span(text)));
  NpyHeader header = parse_npy_header(text, where);

  const auto expected = byte_count(header.shape, header.dtype);
  if (!expected || *expected != size - data_begin)
    fail<FileError>(where, ": ", size - data_begin, " bytes of data; shape ",
                    shape_text(header.shape), " of ", name_of(header.dtype), " takes ",
                    expected ? std::to_string(*expected) : "2^63 or more");
  Bytes data = allocate(*expected, where);
  read_at(data_begin, data.span());
  check_elements(header.dtype, data.span(), where);
  if (header.order == Order::fortran && header.shape.size() > 1)
    data = to_c_order(data, header.shape, size_of(header.dtype), where);
  return {where, header.dtype, std::move(header.shape), std::move(data)};
}

std::string tuple_text(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (const std::int64_t dim : shape) text += std::to_string(dim) + ", ";
  if (!shape.empty()) text.erase(text.size() - (shape.size() == 1 ? 1 : 2));
  return text + ")";
}

}  // namespace

Npy read_npy(const std::filesystem::path& path) {
  const InputFile file(path);
  return load(
      file.size(), "attn::files::read_npy: " + path_text(path),
      [&](std::uint64_t offset, std::span<std::byte> out) { file.read_at(offset, out); });
}

Npy parse_npy(std::span<const std::byte> bytes, std::string_view where) {
  return load(bytes.size(), std::string(where),
              [&](std::uint64_t offset, std::span<std::byte> out) {
                if (!out.empty()) std::memcpy(out.data(), bytes.data() + offset, out.size());
              });
}

void write_npy(const std::filesystem::path& path, const ArrayView& array) {
  const std::string where = "attn::files::write_npy";
  if (npy_descr(array.dtype).empty())
    fail<Unsupported>(where, ": NumPy has no ", name_of(array.dtype),
                      "; accepted: f64, f32, f16, i64, i32, i16, i8, u8, boolean");
  validate(array, where);
  constexpr std::size_t kAlignment = 64;  // of the data, as the format asks
  constexpr std::size_t kBefore = kPreludeSize + 2;
  std::string header = "{'descr': '" + std::string(npy_descr(array.dtype)) +
                       "', 'fortran_order': False, 'shape': " + tuple_text(array.shape) + ", }";
  while ((kBefore + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';

  AtomicFile file(path);
  file.write(kMagic);
  file.write("\x01\x00"sv);
  const std::array<char, 2> length = {static_cast<char>(header.size() & 0xff),
                                      static_cast<char>(header.size() >> 8)};
  file.write(std::string_view(length.data(), length.size()));
  file.write(header);
  file.write(array.bytes);
  file.commit();
}

}  // namespace attn::files
