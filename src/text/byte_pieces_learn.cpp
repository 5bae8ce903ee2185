// How byte pieces are learnt: the commonest pair of neighbours becomes a piece, again and
// again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/byte_pieces.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::text {
namespace {

/// What may stand together in a piece.
enum class Kind { space, line, letter, digit, other };

Kind kind_of(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == ' ') return Kind::space;
  if (byte < 0x20) return Kind::line;
  if (c >= '0' && c <= '9') return Kind::digit;
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || byte >= 0x80;
  return letter ? Kind::letter : Kind::other;
}

/// Where the word ends that begins here: letters, digits or signs with at most one space before
/// them, or spaces alone.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  std::size_t end = begin;
  if (kind_of(text[begin]) == Kind::space) {
    while (end < text.size() && text[end] == ' ') ++end;
    const bool alone = end == text.size() || kind_of(text[end]) == Kind::line;
    if (alone) return end;
    if (end - begin > 1) return end - 1;
  }
  const Kind kind = kind_of(text[end]);
  if (kind == Kind::line) return end + 1;
  while (end < text.size() && kind_of(text[end]) == kind) ++end;
  return end;
}

using Neighbours = std::pair<std::int64_t, std::int64_t>;

struct NeighboursHash {
  std::size_t operator()(const Neighbours& pair) const {
    return static_cast<std::size_t>(pair.first) * 1000003U ^
           static_cast<std::size_t>(pair.second);
  }
};

struct Word {
  std::vector<std::int64_t> symbols;
  std::int64_t count;
};

class Learning {
 public:
  Learning(std::span<const std::string> texts, std::int64_t size) {
    std::map<std::string, std::int64_t> words;
    {
      std::unordered_map<std::string_view, std::int64_t> counts;
      for (const std::string_view text : texts)
        for (std::size_t begin = 0; begin < text.size();) {
          const std::size_t end = end_of_word(text, begin);
          ++counts[text.substr(begin, end - begin)];
          begin = end;
        }
      // In order, so that equals are the same on every machine.
      words.insert(counts.begin(), counts.end());
    }
    take_characters(words, size);
    const BytePieces letters{pieces_};
    for (const auto& [text, count] : words) words_.push_back({letters.encode(text), count});
  }

  std::vector<Piece> pieces(std::int64_t size) {
    for (const Word& word : words_) count(word, word.count);
    while (BytePieces::kFirstPiece + static_cast<std::int64_t>(pieces_.size()) < size)
      if (!join_commonest()) break;
    return std::move(pieces_);
  }

 private:
  /// A character that is not seen thrice is spelt in bytes.
  static constexpr std::int64_t kFewest = 3;

  /// Those beyond ASCII, which are no byte. At most half of the pieces: pairs are needed, too.
  void take_characters(const std::map<std::string, std::int64_t>& words, std::int64_t size) {
    std::map<std::string, std::int64_t> counts;
    for (const auto& [text, count] : words) {
      std::string_view rest = text;
      while (!rest.empty()) {
        std::size_t length = 1;
        while (length < rest.size() &&
               (static_cast<unsigned char>(rest[length]) & 0xC0U) == 0x80U)
          ++length;
        if (length > 1) counts[std::string(rest.substr(0, length))] += count;
        rest.remove_prefix(length);
      }
    }
    std::vector<std::pair<std::int64_t, std::string>> common;
    for (const auto& [text, count] : counts)
      if (count >= kFewest) common.emplace_back(-count, text);
    std::sort(common.begin(), common.end());
    const auto most = static_cast<std::size_t>(
        std::max<std::int64_t>(0, (size - BytePieces::kFirstPiece) / 2));
    for (std::size_t i = 0; i < std::min(most, common.size()); ++i) add(common[i].second);
  }

  void add(std::string text) {
    pieces_.push_back({std::move(text), -static_cast<float>(pieces_.size())});
  }

  /// A byte of a longer character: pieces are whole characters.
  static bool is_part(std::int64_t id) {
    return id >= BytePieces::kFirstByte + 0x80 && id < BytePieces::kFirstPiece;
  }

  void count(const Word& word, std::int64_t times) {
    for (std::size_t i = 1; i < word.symbols.size(); ++i)
      if (!is_part(word.symbols[i - 1]) && !is_part(word.symbols[i]))
        counts_[{word.symbols[i - 1], word.symbols[i]}] += times;
  }

  std::string text_of(std::int64_t id) const {
    if (id >= BytePieces::kFirstPiece)
      return pieces_[static_cast<std::size_t>(id - BytePieces::kFirstPiece)].text;
    return {static_cast<char>(id - BytePieces::kFirstByte)};
  }

  /// False where no pair is there twice.
  bool join_commonest() {
    Neighbours best;
    std::int64_t most = 1;
    for (const auto& [pair, count] : counts_)
      if (count > most || (count == most && most > 1 && pair < best)) {
        most = count;
        best = pair;
      }
    if (most < 2) return false;
    const auto fresh = BytePieces::kFirstPiece + static_cast<std::int64_t>(pieces_.size());
    std::string text = text_of(best.first) + text_of(best.second);
    // What has grown together in another way before is one text, and so one piece.
    const auto [at, is_new] = texts_.emplace(text, fresh);
    if (is_new) add(std::move(text));
    for (Word& word : words_) join(word, best, at->second);
    counts_.erase(best);
    return true;
  }

  void join(Word& word, const Neighbours& pair, std::int64_t joined) {
    auto& symbols = word.symbols;
    const auto is_pair = [&](std::size_t i) {
      return symbols[i] == pair.first && symbols[i + 1] == pair.second;
    };
    bool has = false;
    for (std::size_t i = 0; i + 1 < symbols.size() && !has; ++i) has = is_pair(i);
    if (!has) return;
    count(word, -word.count);
    std::vector<std::int64_t> after;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const bool both = i + 1 < symbols.size() && is_pair(i);
      after.push_back(both ? joined : symbols[i]);
      if (both) ++i;
    }
    symbols = std::move(after);
    count(word, word.count);
  }

  std::vector<Piece> pieces_;
  std::unordered_map<std::string, std::int64_t> texts_;
  std::vector<Word> words_;
  std::unordered_map<Neighbours, std::int64_t, NeighboursHash> counts_;
};

}  // namespace

BytePieces BytePieces::learn(std::span<const std::string> texts, std::int64_t size) {
  if (size < kFirstPiece)
    fail("attn::text::BytePieces::learn: a size of ", size, "; at least ", kFirstPiece,
         " are accepted, the marks and all bytes");
  return BytePieces(Learning(texts, size).pieces(size));
}

}  // namespace attn::text
