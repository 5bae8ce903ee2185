// SPDX-License-Identifier: Apache-2.0

#include "files/npy_header.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/printable.hpp"

namespace attn::files {
namespace {

constexpr std::string_view kDescrs = "<f8, <f4, <f2, <i8, <i4, <i2, |i1, |u1, |b1";

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
    if (peek() == '[') reject("descr is a list of fields; accepted: ", kDescrs);
    const std::string_view descr = read_string();
    const std::string_view kind = descr.substr(descr.empty() ? 0 : 1);
    const char order = descr.empty() ? ' ' : descr[0];
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::i64, DType::i32,
                              DType::i16, DType::i8, DType::u8, DType::boolean}) {
      if (npy_descr(dtype).substr(1) != kind) continue;
      // "|" says that byte order does not matter, "=" that it is this machine's.
      if (order == '<' || order == '=' ||
          (size_of(dtype) == 1 && (order == '|' || order == '>'))) {
        header_.dtype = dtype;
        return;
      }
    }
    reject("descr ", in_quotes(descr), "; accepted: ", kDescrs);
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

}  // namespace

NpyHeader parse_npy_header(std::string_view text, const std::string& where) {
  return DictionaryReader(text, where).read();
}

std::string_view npy_descr(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "<f8";
    case DType::f32:
      return "<f4";
    case DType::f16:
      return "<f2";
    case DType::i64:
      return "<i8";
    case DType::i32:
      return "<i4";
    case DType::i16:
      return "<i2";
    case DType::i8:
      return "|i1";
    case DType::u8:
      return "|u1";
    case DType::boolean:
      return "|b1";
    case DType::bf16:
      break;
  }
  return "";
}

}  // namespace attn::files
