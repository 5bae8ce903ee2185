// SPDX-License-Identifier: Apache-2.0

#include "text/vocabulary_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"

namespace attn::text {
namespace {

constexpr std::string_view kFormat = "attn-vocabulary";
constexpr std::string_view kVersion = "1";
constexpr std::array<std::string_view, 3> kUnits{"characters", "words", "subwords"};
constexpr std::string_view kEscaped = "\t\n\r\\";
constexpr std::string_view kEscapes = "tnr\\";
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const std::size_t at = kEscaped.find(c);
    if (at == std::string_view::npos) {
      out += c;
    } else {
      out += '\\';
      out += kEscapes[at];
    }
  }
  return out;
}

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const std::size_t at = ++i < text.size() ? kEscapes.find(text[i]) : std::string_view::npos;
    if (at == std::string_view::npos) return std::nullopt;
    out += kEscaped[at];
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(mark);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// The whole text as a number.
template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string problem_of(Units units, const Piece& piece) {
  const std::string& text = piece.text;
  if (text.empty()) return "is empty";
  if (text.size() > kLongestPiece)
    return "has " + std::to_string(text.size()) + " bytes; at most " +
           std::to_string(kLongestPiece) + " are accepted";
  if (!files::is_utf8(text)) return "is not UTF-8";
  if (!std::isfinite(piece.score)) return "has a score that is no finite number";
  if (units == Units::characters && code_points(text).size() != 1)
    return "has more than one character";
  if (units == Units::words && split_words(text) != std::vector<std::string_view>{text})
    return "holds white space";
  return "";
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path)
      : where_("attn::text::Tokeniser::read: " + files::path_text(path)),
        text_(files::read_text(path, kMostBytes)) {}

  Vocabulary read() {
    Vocabulary vocabulary;
    const std::size_t count = header(vocabulary.units);
    // A line has two bytes or more: a count that lies cannot make this large.
    vocabulary.pieces.reserve(std::min(count, text_.size() / 2));
    while (at_ < text_.size()) vocabulary.pieces.push_back(piece(vocabulary.units));
    if (vocabulary.pieces.size() != count)
      fail<FileError>(where_, ": ", vocabulary.pieces.size(), " pieces; line 1 says ", count);
    if (const auto problem = find_problem(vocabulary.units, vocabulary.pieces))
      fail<FileError>(where_, ", line ", problem->piece + 2, ": the piece ",
                      files::in_quotes(vocabulary.pieces[problem->piece].text), ' ',
                      problem->what);
    return vocabulary;
  }

 private:
  std::string_view line() {
    ++number_;
    const std::size_t end = text_.find('\n', at_);
    if (end == std::string::npos) broken("ends before its line does");
    const auto found = std::string_view(text_).substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }

  std::size_t header(Units& units) {
    const auto words = split(line(), ' ');
    if (words.size() != 4 || words[0] != kFormat)
      broken("is no vocabulary; accepted: 'attn-vocabulary 1 UNITS COUNT'");
    if (words[1] != kVersion)
      fail<FileError>(where_, ", line 1: version ", files::in_quotes(words[1]),
                      " is not known; accepted: 1");
    const auto unit = std::find(kUnits.begin(), kUnits.end(), words[2]);
    if (unit == kUnits.end())
      fail<FileError>(where_, ", line 1: units ", files::in_quotes(words[2]),
                      "; accepted: characters, words, subwords");
    units = static_cast<Units>(unit - kUnits.begin());
    std::uint64_t count = 0;
    if (!read_number(words[3], count) || count > kMostPieces)
      fail<FileError>(where_, ", line 1: the count ", files::in_quotes(words[3]),
                      "; accepted: 0 to ", kMostPieces);
    return static_cast<std::size_t>(count);
  }

  Piece piece(Units units) {
    const auto fields = split(line(), '\t');
    const std::size_t wanted = units == Units::subwords ? 2 : 1;
    if (fields.size() != wanted)
      broken(wanted == 2 ? "is not a piece, a tab and its score" : "holds a tab");
    auto text = unescape(fields[0]);
    if (!text) broken("has a backslash that is no escape; accepted: \\t \\n \\r \\\\");
    Piece piece{std::move(*text)};
    if (wanted == 2 && !read_number(fields[1], piece.score))
      fail<FileError>(where_, ", line ", number_, ": the score ", files::in_quotes(fields[1]),
                      " is no number");
    return piece;
  }

  [[noreturn]] void broken(std::string_view what) const {
    fail<FileError>(where_, ", line ", number_, ": ", what);
  }

  std::string where_;
  std::string text_;
  std::size_t at_ = 0;
  std::size_t number_ = 0;
};

}  // namespace

std::optional<PieceProblem> find_problem(Units units, std::span<const Piece> pieces) {
  if (pieces.size() > kMostPieces)
    return PieceProblem{kMostPieces, "is one too many; at most " + std::to_string(kMostPieces) +
                                         " are accepted"};
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (std::string what = problem_of(units, pieces[i]); !what.empty())
      return PieceProblem{i, std::move(what)};
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int compared = pieces[a].text.compare(pieces[b].text);
    return compared != 0 ? compared < 0 : a < b;
  });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (pieces[order[i]].text == pieces[order[i - 1]].text)
      return PieceProblem{order[i], "is also piece " + std::to_string(order[i - 1] + 1)};
  return std::nullopt;
}

std::string vocabulary_text(const Vocabulary& vocabulary) {
  std::string text(kFormat);
  text += ' ';
  text += kVersion;
  text += ' ';
  text += kUnits[static_cast<std::size_t>(vocabulary.units)];
  text += ' ' + std::to_string(vocabulary.pieces.size()) + '\n';
  for (const Piece& piece : vocabulary.pieces) {
    text += escape(piece.text);
    if (vocabulary.units == Units::subwords) {
      std::array<char, 32> digits{};
      const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), piece.score);
      text += '\t';
      text.append(digits.data(), end.ptr);
    }
    text += '\n';
  }
  return text;
}

Vocabulary read_vocabulary(const std::filesystem::path& path) {
  return Reader(path).read();
}

}  // namespace attn::text
