// SPDX-License-Identifier: Apache-2.0

#include "attn/text/tokeniser.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/atomic_write.hpp"
#include "attn/files/printable.hpp"
#include "attn/text/sha256.hpp"
#include "attn/text/unicode.hpp"
#include "text/unigram.hpp"
#include "text/vocabulary_file.hpp"

namespace attn::text {
namespace {

constexpr std::int64_t kMarks = 4;
constexpr std::array<const char*, kMarks> kMarkLabels{"<pad>", "<s>", "</s>", "<unk>"};
constexpr std::string_view kSpaceMark = "\u2581";
constexpr std::string_view kBadByte = "\ufffd";

/// The characters or words of normalised text, as views into it.
std::vector<std::string_view> units_of(Units units, std::string_view text) {
  if (units == Units::words) return split_words(text);
  std::vector<std::string_view> characters;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
    characters.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return characters;
}

std::string with_spaces(std::string_view piece) {
  std::string out;
  for (std::size_t i = 0; i < piece.size();) {
    if (piece.substr(i).starts_with(kSpaceMark)) {
      out += ' ';
      i += kSpaceMark.size();
    } else {
      out += piece[i++];
    }
  }
  return out;
}

/// Bytes that a model wrote one by one: what is no character becomes U+FFFD, so that the
/// whole is UTF-8.
void append_bytes(std::string& out, std::string& bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    std::size_t size = std::min<std::size_t>(4, bytes.size() - i);
    while (size > 0 && !files::is_utf8(std::string_view(bytes).substr(i, size))) --size;
    // The longest valid text may be several characters; all of them are good.
    if (size == 0)
      out += kBadByte;
    else
      out.append(bytes, i, size);
    i += std::max<std::size_t>(size, 1);
  }
  bytes.clear();
}

}  // namespace

struct Tokeniser::State {
  explicit State(Vocabulary of)
      : vocabulary(std::move(of)),
        unigram(vocabulary.units == Units::subwords
                    ? std::make_unique<Unigram>(vocabulary.pieces)
                    : nullptr),
        trie(unigram ? std::vector<std::pair<std::string_view, std::int32_t>>{} : keys()) {}

  std::vector<std::pair<std::string_view, std::int32_t>> keys() const {
    std::vector<std::pair<std::string_view, std::int32_t>> found;
    found.reserve(vocabulary.pieces.size());
    for (const Piece& piece : vocabulary.pieces)
      found.emplace_back(piece.text, static_cast<std::int32_t>(found.size()));
    return found;
  }

  const Piece& piece(std::int64_t id) const {
    return vocabulary.pieces[static_cast<std::size_t>(id - kMarks)];
  }

  void check(std::int64_t id) const {
    const auto size = kMarks + static_cast<std::int64_t>(vocabulary.pieces.size());
    if (id < 0 || id >= size)
      fail("attn::text::Tokeniser: the number ", id,
           " is not in the vocabulary; accepted: 0 to ", size - 1);
  }

  std::string join_subwords(std::span<const std::int64_t> ids) const;

  Vocabulary vocabulary;
  std::unique_ptr<const Unigram> unigram;  ///< of subwords
  Trie trie;                               ///< of characters and words
};

std::string Tokeniser::State::join_subwords(std::span<const std::int64_t> ids) const {
  std::string out;
  std::string bytes;
  for (const std::int64_t id : ids) {
    if (id < kMarks) continue;
    if (const auto byte = unigram->byte_of(static_cast<std::int32_t>(id - kMarks))) {
      bytes += static_cast<char>(*byte);
      continue;
    }
    append_bytes(out, bytes);
    out += with_spaces(piece(id).text);
  }
  append_bytes(out, bytes);
  // The space before the first word is the encoder's.
  if (out.starts_with(' ')) out.erase(0, 1);
  return out;
}

Tokeniser::Tokeniser(Units units, std::vector<Piece> pieces) {
  if (const auto problem = find_problem(units, pieces))
    fail("attn::text::Tokeniser: piece ", problem->piece + 1, ' ', problem->what);
  state_ = std::make_shared<const State>(Vocabulary{units, std::move(pieces)});
}

Tokeniser Tokeniser::learn(Units units, std::span<const std::string> lines, std::int64_t most) {
  if (units == Units::subwords)
    fail(
        "attn::text::Tokeniser::learn: subwords are trained by the program attn-vocabulary; "
        "accepted: characters, words");
  if (most < 0) fail("attn::text::Tokeniser::learn: most is ", most, "; accepted: 0 or more");
  std::unordered_map<std::string, std::int64_t> counts;
  for (const std::string& line : lines) {
    const std::string text = normalise(line);
    for (const std::string_view unit : units_of(units, text))
      if (unit.size() <= kLongestPiece) ++counts[std::string(unit)];
  }
  std::vector<std::pair<std::int64_t, std::string>> order;
  order.reserve(counts.size());
  for (auto& [unit, count] : counts) order.emplace_back(-count, unit);
  // UTF-8 sorts as its code points do.
  std::sort(order.begin(), order.end());
  const auto kept = std::min({order.size(), static_cast<std::size_t>(most), kMostPieces});
  std::vector<Piece> pieces;
  pieces.reserve(kept);
  for (std::size_t i = 0; i < kept; ++i) pieces.push_back({std::move(order[i].second)});
  return {units, std::move(pieces)};
}

Tokeniser Tokeniser::read(const std::filesystem::path& path) {
  Vocabulary vocabulary = read_vocabulary(path);
  return {vocabulary.units, std::move(vocabulary.pieces)};
}

void Tokeniser::write(const std::filesystem::path& path) const {
  files::atomic_write(path, vocabulary_text(state_->vocabulary));
}

std::vector<std::int64_t> Tokeniser::encode(std::string_view text) const {
  const std::string normal = normalise(text);
  std::vector<std::int64_t> ids;
  if (state_->unigram) {
    for (const std::int32_t piece : state_->unigram->encode(normal))
      ids.push_back(piece == Trie::kNone ? Mark::unknown : kMarks + piece);
    return ids;
  }
  for (const std::string_view unit : units_of(units(), normal)) {
    const std::int32_t piece = state_->trie.find(unit);
    ids.push_back(piece == Trie::kNone ? Mark::unknown : kMarks + piece);
  }
  return ids;
}

std::string Tokeniser::decode(std::span<const std::int64_t> ids) const {
  for (const std::int64_t id : ids) state_->check(id);
  if (state_->unigram) return state_->join_subwords(ids);
  std::string out;
  for (const std::int64_t id : ids) {
    if (id < kMarks) continue;
    if (units() == Units::words && !out.empty()) out += ' ';
    out += state_->piece(id).text;
  }
  return out;
}

std::string Tokeniser::label(std::int64_t id) const {
  state_->check(id);
  if (id < kMarks) return kMarkLabels[static_cast<std::size_t>(id)];
  const std::string& text = state_->piece(id).text;
  return text == " " ? std::string(kSpaceMark) : text;
}

std::optional<std::int64_t> Tokeniser::find(std::string_view label) const {
  for (std::int64_t id = 0; id < size(); ++id)
    if (this->label(id) == label) return id;
  return std::nullopt;
}

double Tokeniser::unknown_share(std::string_view text) const {
  const auto holds = [&](std::string_view unit) {
    for (const std::int64_t id : encode(unit))
      if (id == Mark::unknown ||
          (state_->unigram && state_->unigram->byte_of(static_cast<std::int32_t>(id - kMarks))))
        return false;
    return true;
  };
  const std::string plain = normalise(text);
  std::size_t all = 0;
  std::size_t unknown = 0;
  if (units() == Units::words) {
    for (const std::string_view word : split_words(plain)) {
      ++all;
      unknown += holds(word) ? 0 : 1;
    }
  } else {
    std::unordered_map<char32_t, bool> known;  // a text has few different characters
    for (const char32_t c : code_points(plain)) {
      if (is_space(c)) continue;
      const auto [at, fresh] = known.try_emplace(c, false);
      if (fresh) at->second = holds(to_utf8(std::u32string_view(&c, 1)));
      ++all;
      unknown += at->second ? 0 : 1;
    }
  }
  return all == 0 ? 0.0 : static_cast<double>(unknown) / static_cast<double>(all);
}

Units Tokeniser::units() const {
  return state_->vocabulary.units;
}

std::int64_t Tokeniser::size() const {
  return kMarks + static_cast<std::int64_t>(state_->vocabulary.pieces.size());
}

std::string Tokeniser::checksum() const {
  const std::string text = vocabulary_text(state_->vocabulary);
  return sha256_hex(std::as_bytes(std::span(text)));
}

}  // namespace attn::text
