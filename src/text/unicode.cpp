// SPDX-License-Identifier: Apache-2.0

#include "attn/text/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <ios>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::text {
namespace {

const utf8proc_uint8_t* bytes_of(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// The code point at `at`, which moves behind it.
char32_t next(std::string_view text, std::size_t& at) {
  if (static_cast<unsigned char>(text[at]) < 0x80) return static_cast<char32_t>(text[at++]);
  utf8proc_int32_t c = 0;
  const auto length = utf8proc_iterate(bytes_of(text) + at,
                                       static_cast<utf8proc_ssize_t>(text.size() - at), &c);
  if (length <= 0)
    fail("attn::text: byte ", at + 1, " of ", text.size(),
         " is not UTF-8: ", files::in_quotes(text.substr(at > 8 ? at - 8 : 0, 24)),
         "; accepted: UTF-8");
  at += static_cast<std::size_t>(length);
  return static_cast<char32_t>(c);
}

void append(std::string& text, char32_t c) {
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

/// Appends the compatibility decomposition of one code point.
void decompose(char32_t c, std::vector<utf8proc_int32_t>& out) {
  constexpr auto kHow =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  constexpr std::size_t kLongest = 18;  // U+FDFA, by Unicode's stability policy for good
  const std::size_t size = out.size();
  out.resize(size + kLongest);
  const auto length = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), &out[size],
                                              kLongest, kHow, nullptr);
  if (length < 0 || length > static_cast<utf8proc_ssize_t>(kLongest))
    fail("attn::text::nfkc: U+", std::hex, static_cast<unsigned>(c), ": ",
         utf8proc_errmsg(length));
  out.resize(size + static_cast<std::size_t>(length));
}

/// Canonical order: marks behind a letter sorted by class. utf8proc's own loop exchanges
/// neighbours, which on a megabyte of marks takes minutes.
void sort_marks(std::vector<utf8proc_int32_t>& text) {
  const auto rank = [](utf8proc_int32_t c) {
    return utf8proc_get_property(c)->combining_class;
  };
  const auto is_mark = [&](utf8proc_int32_t c) { return c >= 0x300 && rank(c) != 0; };
  std::vector<std::tuple<int, std::ptrdiff_t, utf8proc_int32_t>> run;
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if(begin, text.end(), is_mark);
    const auto end = std::find_if_not(begin, text.end(), is_mark);
    // Of one class each mark stays where it was among its like.
    run.clear();
    for (auto mark = begin; mark != end; ++mark)
      run.push_back({rank(*mark), mark - begin, *mark});
    std::sort(run.begin(), run.end());
    for (const auto& [mark_rank, place, mark] : run) *begin++ = mark;
  }
}

std::string single_spaces(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const std::string_view word : split_words(text)) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

bool is_cased(char32_t c) {
  const auto kind = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return kind == UTF8PROC_CATEGORY_LU || kind == UTF8PROC_CATEGORY_LL ||
         kind == UTF8PROC_CATEGORY_LT || c == 0xaa || c == 0xba ||  // ordinals
         (c >= 0x2160 && c <= 0x217f) ||                            // Roman numbers
         (c >= 0x24b6 && c <= 0x24e9);                              // letters in circles
}

/// What does not end a word when sigma looks around.
bool is_case_ignorable(char32_t c) {
  constexpr std::u32string_view kInside =
      U"'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027"
      U"\ufe13\ufe52\ufe55\uff07\uff0e\uff1a";
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return kInside.find(c) != std::u32string_view::npos;
  }
}

/// Whether the sigma at `at` ends a word: a letter before it, none behind it. `cased` tells of
/// the nearest character before it that is not ignorable.
bool ends_word(std::u32string_view text, std::size_t at, bool cased) {
  if (!cased) return false;
  const auto behind = std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                       text.end(), is_case_ignorable);
  return behind == text.end() || !is_cased(*behind);
}

}  // namespace

std::u32string code_points(std::string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) out += next(text, at);
  return out;
}

std::string to_utf8(std::u32string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char32_t c : text) {
    if (!utf8proc_codepoint_valid(static_cast<utf8proc_int32_t>(c)))
      fail("attn::text::to_utf8: ", static_cast<unsigned>(c), " is not a code point");
    append(out, c);
  }
  return out;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f);
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

std::string nfkc(std::string_view text) {
  if (is_ascii(text)) return std::string(text);
  std::vector<utf8proc_int32_t> buffer;
  buffer.reserve(text.size() + 1);
  for (std::size_t at = 0; at < text.size();) decompose(next(text, at), buffer);
  sort_marks(buffer);
  const auto size = static_cast<utf8proc_ssize_t>(buffer.size());
  buffer.push_back(0);  // the library ends its bytes with a zero
  const auto length = utf8proc_reencode(
      buffer.data(), size, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  if (length < 0) fail("attn::text::nfkc: ", utf8proc_errmsg(length));
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(length)};
}

std::string normalise(std::string_view text) {
  return single_spaces(nfkc(text));
}

std::string lower(std::string_view text) {
  constexpr char32_t kSigma = 0x3a3;
  constexpr char32_t kDottedI = 0x130;
  const std::u32string letters = code_points(text);
  std::string out;
  out.reserve(text.size());
  bool cased = false;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const char32_t c = letters[i];
    if (c == kSigma) {
      append(out, ends_word(letters, i, cased) ? 0x3c2 : 0x3c3);
    } else {
      append(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
      if (c == kDottedI) append(out, 0x307);
    }
    if (!is_case_ignorable(c)) cased = is_cased(c);
  }
  return out;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t here = at;
    if (!is_space(next(text, at))) continue;
    if (here > begin) words.push_back(text.substr(begin, here - begin));
    begin = at;
  }
  if (begin < text.size()) words.push_back(text.substr(begin));
  return words;
}

}  // namespace attn::text
