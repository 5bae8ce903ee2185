// SPDX-License-Identifier: Apache-2.0

#include "attn/files/npy.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"

namespace attn::files {
namespace {

enum class Order { c, fortran };

struct NpyHeader {
  DType dtype = DType::f32;
  Order order = Order::c;
  std::vector<std::int64_t> shape;
};

/// The types that NumPy has.
constexpr std::pair<DType, std::string_view> kDescrs[] = {
    {DType::f64, "<f8"}, {DType::f32, "<f4"}, {DType::f16, "<f2"},
    {DType::i64, "<i8"}, {DType::i32, "<i4"}, {DType::i16, "<i2"},
    {DType::i8, "|i1"},  {DType::u8, "|u1"},  {DType::boolean, "|b1"}};
constexpr std::string_view kAccepted = "<f8, <f4, <f2, <i8, <i4, <i2, |i1, |u1, |b1";

/// A reader of exactly this dictionary: no nesting, no expressions, one pass.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view text, const std::string& where)
      : text_(text), where_(where) {}

  NpyHeader read() {
    expect('{');
    while (!take('}')) {
      read_member();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (at_ != text_.size()) reject("text behind the dictionary");
    for (std::size_t i = 0; i < seen_.size(); ++i)
      if (!seen_[i]) reject(kKeys[i], " is missing");
    return std::move(header_);
  }

 private:
  static constexpr std::array<std::string_view, 3> kKeys = {"descr", "fortran_order", "shape"};

  void read_member() {
    const std::string_view key = read_string();
    std::size_t which = 0;
    while (which < kKeys.size() && kKeys[which] != key) ++which;
    if (which == kKeys.size())
      reject("key ", in_quotes(key), "; accepted: descr, fortran_order, shape");
    if (std::exchange(seen_[which], true)) reject("key ", in_quotes(key), " a second time");
    expect(':');
    if (which == 0) read_descr();
    if (which == 1) read_order();
    if (which == 2) read_shape();
  }

  void read_descr() {
    skip_space();
    if (peek() == '[') reject("descr is a list of fields; accepted: ", kAccepted);
    const std::string_view descr = read_string();
    const std::string_view kind = descr.substr(descr.empty() ? 0 : 1);
    const char order = descr.empty() ? ' ' : descr[0];
    for (const auto& [dtype, name] : kDescrs) {
      if (name.substr(1) != kind) continue;
      // "|" says that byte order does not matter, "=" that it is this machine's.
      if (order == '<' || order == '=' ||
          (size_of(dtype) == 1 && (order == '|' || order == '>'))) {
        header_.dtype = dtype;
        return;
      }
    }
    reject("descr ", in_quotes(descr), "; accepted: ", kAccepted);
  }

  void read_order() {
    skip_space();
    if (take_word("True")) {
      header_.order = Order::fortran;
    } else if (!take_word("False")) {
      reject("fortran_order is neither True nor False");
    }
  }

  void read_shape() {
    expect('(');
    bool comma = false;
    while (!take(')')) {
      if (header_.shape.size() == kMaxRank)
        reject("a shape of more than ", kMaxRank, " dimensions");
      header_.shape.push_back(read_integer());
      comma = take(',');
      if (!comma) {
        expect(')');
        break;
      }
    }
    // In Python "(3)" is a number and not a tuple.
    if (header_.shape.size() == 1 && !comma) reject("shape is no tuple; accepted: (3,)");
  }

  std::int64_t read_integer() {
    skip_space();
    std::int64_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0)
      reject("shape holds ", in_quotes(text_.substr(at_), 24),
             "; accepted: integers from 0 to 2^63 - 1");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  std::string_view read_string() {
    skip_space();
    const char quote = peek();
    if (quote != '\'' && quote != '"') reject("text in quotes was expected");
    const std::size_t begin = at_ + 1;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) reject("text in quotes does not end");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (peek() == ' ' || peek() == '\n' || peek() == '\t') ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) reject("'", c, "' was expected");
  }

  template <class... Parts>
  [[noreturn]] void reject(const Parts&... parts) const {
    fail<FileError>(where_, ": header, byte ", at_, " of ", text_.size(), ": ", parts...);
  }

  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
  NpyHeader header_;
  std::array<bool, 3> seen_ = {};
};

/// FileError unless `text` is `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`
/// with any spacing and order of keys.
NpyHeader parse_npy_header(std::string_view text, const std::string& where) {
  return DictionaryReader(text, where).read();
}

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
  const auto* const descr =
      std::ranges::find(kDescrs, array.dtype, &std::pair<DType, std::string_view>::first);
  if (descr == std::end(kDescrs))
    fail<Unsupported>(where, ": NumPy has no ", name_of(array.dtype),
                      "; accepted: f64, f32, f16, i64, i32, i16, i8, u8, boolean");
  validate(array, where);
  constexpr std::size_t kAlignment = 64;  // of the data, as the format asks
  constexpr std::size_t kBefore = kPreludeSize + 2;
  std::string header = "{'descr': '" + std::string(descr->second) +
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
