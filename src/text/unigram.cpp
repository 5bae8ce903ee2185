// SPDX-License-Identifier: Apache-2.0

#include "text/unigram.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/text/tokeniser.hpp"

namespace attn::text {
namespace {

using BytePieces = std::optional<std::array<std::int32_t, 256>>;

constexpr std::string_view kSpace = "\u2581";
/// How much less likely than the rarest piece an unknown character is, in nats.
constexpr float kUnknownPenalty = 10.0f;

/// "<0x0A>" is 10; anything else is nothing.
std::optional<unsigned char> byte_named(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
  const std::size_t high = kDigits.find(text[3]);
  const std::size_t low = kDigits.find(text[4]);
  if (high > 15 || low > 15) return std::nullopt;
  return static_cast<unsigned char>(16 * high + low);
}

BytePieces byte_pieces(std::span<const Piece> pieces) {
  std::array<std::int32_t, 256> numbers{};
  std::size_t found = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (const auto byte = byte_named(pieces[i].text)) {
      numbers[*byte] = static_cast<std::int32_t>(i);
      ++found;
    }
  }
  if (found != numbers.size()) return std::nullopt;
  return numbers;
}

Trie trie_of(std::span<const Piece> pieces, bool bytes_apart) {
  std::vector<std::pair<std::string_view, std::int32_t>> keys;
  keys.reserve(pieces.size());
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (!bytes_apart || !byte_named(pieces[i].text))
      keys.emplace_back(pieces[i].text, static_cast<std::int32_t>(i));
  return Trie(std::move(keys));
}

/// A space before every word, also the first, and none at the end.
std::string with_marks(std::string_view text) {
  std::string out;
  if (text.empty()) return out;
  out.reserve(text.size() + text.size() / 2);
  out += kSpace;
  for (const char c : text) {
    if (c == ' ')
      out += kSpace;
    else
      out += c;
  }
  while (out.ends_with(kSpace)) out.resize(out.size() - kSpace.size());
  return out;
}

std::size_t character_size(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

/// The best way to reach a place: where its last piece begins, and which it is.
struct Step {
  std::int32_t piece = Trie::kNone;
  float score = 0.0f;
  std::ptrdiff_t begin = -1;

  /// Of equal ways the first stays. Candidates are compared in double before they are stored
  /// in float, as SentencePiece does it: rounding decides between ways of nearly equal score.
  void offer(std::int32_t with, double candidate, std::size_t from) {
    if (begin >= 0 && candidate <= static_cast<double>(score)) return;
    *this = {with, static_cast<float>(candidate), static_cast<std::ptrdiff_t>(from)};
  }
};

}  // namespace

Unigram::Unigram(std::span<const Piece> pieces)
    : byte_pieces_(byte_pieces(pieces)), trie_(trie_of(pieces, byte_pieces_.has_value())) {
  scores_.reserve(pieces.size());
  float least = std::numeric_limits<float>::max();
  for (const Piece& piece : pieces) {
    scores_.push_back(piece.score);
    if (!byte_pieces_ || !byte_named(piece.text)) least = std::min(least, piece.score);
  }
  unknown_score_ = least - kUnknownPenalty;
  if (!byte_pieces_) return;
  bytes_.assign(pieces.size(), -1);
  for (std::size_t byte = 0; byte < byte_pieces_->size(); ++byte)
    bytes_[static_cast<std::size_t>((*byte_pieces_)[byte])] = static_cast<std::int16_t>(byte);
}

std::vector<std::int32_t> Unigram::encode(std::string_view text) const {
  const std::string marked = with_marks(text);
  const std::size_t size = marked.size();
  std::vector<Step> best(size + 1);
  for (std::size_t begin = 0; begin < size;) {
    const float here = best[begin].score;
    const std::size_t one = std::min(character_size(marked[begin]), size - begin);
    bool known = false;
    std::int32_t node = Trie::kRoot;
    for (std::size_t end = begin; end < size;) {
      node = trie_.step(node, marked[end++]);
      if (node == Trie::kNone) break;
      const std::int32_t piece = trie_.value(node);
      if (piece == Trie::kNone) continue;
      const double score = scores_[static_cast<std::size_t>(piece)];
      best[end].offer(piece, score + here, begin);
      known = known || end - begin == one;
    }
    if (!known) best[begin + one].offer(Trie::kNone, unknown_score_ + here, begin);
    begin += one;
  }

  // Backwards, so that a run of unknown characters is met at its end.
  std::vector<std::int32_t> numbers;
  bool was_unknown = false;
  for (std::size_t end = size; end > 0;) {
    const Step& step = best[end];
    const auto begin = static_cast<std::size_t>(step.begin);
    const bool unknown = step.piece == Trie::kNone;
    if (unknown && byte_pieces_) {
      for (std::size_t i = end; i > begin; --i)
        numbers.push_back((*byte_pieces_)[static_cast<unsigned char>(marked[i - 1])]);
    } else if (!unknown || !was_unknown) {
      numbers.push_back(step.piece);
    }
    was_unknown = unknown;
    end = begin;
  }
  std::reverse(numbers.begin(), numbers.end());
  return numbers;
}

std::optional<unsigned char> Unigram::byte_of(std::int32_t piece) const {
  if (!byte_pieces_) return std::nullopt;
  const std::int16_t byte = bytes_[static_cast<std::size_t>(piece)];
  if (byte < 0) return std::nullopt;
  return static_cast<unsigned char>(byte);
}

Trie::Trie(std::vector<std::pair<std::string_view, std::int32_t>> keys) {
  std::sort(keys.begin(), keys.end());
  // Level by level: the keys below a node are a range of the sorted ones.
  struct Range {
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };
  std::vector<Range> ranges{{0, keys.size(), 0}};
  nodes_.emplace_back();
  bytes_.push_back(0);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    auto [begin, end, depth] = ranges[node];
    if (begin < end && keys[begin].first.size() == depth)
      nodes_[node].value = keys[begin++].second;
    nodes_[node].first_child = static_cast<std::int32_t>(nodes_.size());
    while (begin < end) {
      const char byte = keys[begin].first[depth];
      std::size_t next = begin;
      while (next < end && keys[next].first[depth] == byte) ++next;
      nodes_.emplace_back();
      bytes_.push_back(byte);
      ranges.push_back({begin, next, depth + 1});
      begin = next;
    }
    nodes_[node].children = static_cast<std::int32_t>(nodes_.size()) - nodes_[node].first_child;
  }
}

std::int32_t Trie::step(std::int32_t node, char byte) const {
  const Node& from = nodes_[static_cast<std::size_t>(node)];
  if (from.children == 0) return kNone;
  const char* first = bytes_.data() + from.first_child;
  const void* found = std::memchr(first, byte, static_cast<std::size_t>(from.children));
  if (found == nullptr) return kNone;
  return from.first_child + static_cast<std::int32_t>(static_cast<const char*>(found) - first);
}

std::int32_t Trie::find(std::string_view key) const {
  std::int32_t node = kRoot;
  for (const char byte : key) {
    node = step(node, byte);
    if (node == kNone) return kNone;
  }
  return value(node);
}

}  // namespace attn::text
