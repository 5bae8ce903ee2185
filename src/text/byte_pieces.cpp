#include "attn/text/byte_pieces.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::text {
namespace {

/// Bytes of the character that begins with this one; 1 for what begins none.
std::size_t length_of(unsigned char first) {
  if (first >= 0xF0 && first < 0xF8) return 4;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xC2 && first < 0xE0) return 2;
  return 1;
}

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// The character at the front, or a byte that is none.
std::string_view first_character(std::string_view text) {
  const std::size_t length = length_of(static_cast<unsigned char>(text.front()));
  if (length > text.size()) return text.substr(0, 1);
  for (std::size_t i = 1; i < length; ++i)
    if (!continues(text[i])) return text.substr(0, 1);
  return text.substr(0, length);
}

std::string byte_label(unsigned char byte) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  return {'<', kDigits[byte >> 4U], kDigits[byte & 15U], '>'};
}

/// Two neighbours that make a piece.
struct Pair {
  float score;
  std::size_t left;   ///< place of the symbol
  std::size_t bytes;  ///< of both: another number, and they are gone
  std::int64_t piece;

  /// Worse, for a queue whose top is the best.
  bool operator<(const Pair& other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Symbol {
  std::size_t begin;
  std::size_t length;  ///< 0: it is part of the one before
  std::int64_t id;
  std::size_t before;
  std::size_t after;
};

}  // namespace

struct BytePieces::State {
  std::vector<Piece> pieces;
  Opening opening = Opening::as_it_is;
  std::unordered_map<std::string_view, std::int64_t> ids;
  std::array<char, 256> all_bytes{};
  /// No piece holds a space behind anything else, so that words are taken one by one.
  bool words_apart = true;

  std::int64_t find(std::string_view text) const {
    const auto at = ids.find(text);
    if (at != ids.end()) return at->second;
    return text.size() == 1 ? kFirstByte + static_cast<unsigned char>(text.front()) : -1;
  }
  void append(std::string_view text, std::vector<std::int64_t>& into) const;
  std::vector<Symbol> symbols_of(std::string_view text) const;
};

std::vector<Symbol> BytePieces::State::symbols_of(std::string_view text) const {
  std::vector<Symbol> symbols;
  const auto add = [&](std::size_t begin, std::size_t length, std::int64_t id) {
    const std::size_t at = symbols.size();
    symbols.push_back({begin, length, id, at == 0 ? kNone : at - 1, kNone});
    if (at > 0) symbols[at - 1].after = at;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view one = first_character(text.substr(at));
    if (const std::int64_t id = find(one); id >= 0) {
      add(at, one.size(), id);
    } else {
      for (std::size_t i = 0; i < one.size(); ++i)
        add(at + i, 1, kFirstByte + static_cast<unsigned char>(one[i]));
    }
    at += one.size();
  }
  return symbols;
}

void BytePieces::State::append(std::string_view text, std::vector<std::int64_t>& into) const {
  std::vector<Symbol> symbols = symbols_of(text);
  std::priority_queue<Pair> pairs;
  const auto offer = [&](std::size_t left) {
    if (left == kNone || symbols[left].after == kNone) return;
    const Symbol& a = symbols[left];
    const std::size_t bytes = a.length + symbols[a.after].length;
    const auto at = ids.find(text.substr(a.begin, bytes));
    if (at == ids.end()) return;
    pairs.push({pieces[static_cast<std::size_t>(at->second - kFirstPiece)].score, left, bytes,
                at->second});
  };
  for (std::size_t i = 0; i < symbols.size(); ++i) offer(i);
  while (!pairs.empty()) {
    const Pair best = pairs.top();
    pairs.pop();
    Symbol& left = symbols[best.left];
    if (left.length == 0 || left.after == kNone ||
        left.length + symbols[left.after].length != best.bytes)
      continue;
    Symbol& right = symbols[left.after];
    left.length = best.bytes;
    left.id = best.piece;
    right.length = 0;
    left.after = right.after;
    if (left.after != kNone) symbols[left.after].before = best.left;
    offer(left.before);
    offer(best.left);
  }
  for (const Symbol& symbol : symbols)
    if (symbol.length > 0) into.push_back(symbol.id);
}

BytePieces::BytePieces(std::vector<Piece> pieces, Opening opening) {
  auto state = std::make_shared<State>();
  state->pieces = std::move(pieces);
  state->opening = opening;
  for (std::size_t i = 0; i < state->all_bytes.size(); ++i)
    state->all_bytes[i] = static_cast<char>(i);
  for (std::size_t i = 0; i < state->pieces.size(); ++i) {
    const std::string_view text = state->pieces[i].text;
    if (text.empty()) fail("attn::text::BytePieces: piece ", i, " is empty");
    if (!state->ids.emplace(text, kFirstPiece + static_cast<std::int64_t>(i)).second)
      fail("attn::text::BytePieces: a piece is there twice, the second time as piece ", i);
    for (std::size_t at = 1; at < text.size(); ++at)
      if (text[at] == ' ' && text[at - 1] != ' ') state->words_apart = false;
  }
  state_ = std::move(state);
}

std::vector<std::int64_t> BytePieces::encode(std::string_view text) const {
  std::vector<std::int64_t> ids;
  std::string spaced;
  if (state_->opening == Opening::space && !text.empty()) {
    spaced = " ";
    spaced += text;
    text = spaced;
  }
  if (!state_->words_apart) {
    state_->append(text, ids);
    return ids;
  }
  std::unordered_map<std::string_view, std::pair<std::size_t, std::size_t>> known;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin + 1;
    while (end < text.size() && (text[end] != ' ' || text[end - 1] == ' ')) ++end;
    const std::string_view word = text.substr(begin, end - begin);
    const auto [at, fresh] = known.try_emplace(word, ids.size(), 0);
    if (fresh) {
      state_->append(word, ids);
      at->second.second = ids.size() - at->second.first;
    } else {
      const auto [first, count] = at->second;
      for (std::size_t i = 0; i < count; ++i) ids.push_back(ids[first + i]);
    }
    begin = end;
  }
  return ids;
}

std::string_view BytePieces::bytes(std::int64_t id) const {
  if (id < 0 || id >= size())
    fail("attn::text::BytePieces: there is no piece ", id, "; 0 to ", size() - 1,
         " are accepted");
  if (id < kFirstByte) return {};
  if (id < kFirstPiece)
    return {&state_->all_bytes[static_cast<std::size_t>(id - kFirstByte)], 1};
  return state_->pieces[static_cast<std::size_t>(id - kFirstPiece)].text;
}

std::string BytePieces::decode(std::span<const std::int64_t> ids) const {
  std::string text;
  for (const std::int64_t id : ids) text += bytes(id);
  if (state_->opening == Opening::space && !text.empty() && text.front() == ' ')
    text.erase(0, 1);
  return text;
}

std::string BytePieces::label(std::int64_t id) const {
  if (id == Mark::pad) return "<pad>";
  if (id == Mark::bos) return "<s>";
  if (id == Mark::eos) return "</s>";
  const std::string_view all = bytes(id);
  const auto first = static_cast<unsigned char>(all.front());
  if (all.size() == 1 && (first >= 0x7F || (first < 0x20 && first != '\n' && first != '\t')))
    return byte_label(first);
  std::string text;
  for (const char c : all) {
    if (c == ' ') {
      text += "▁";
    } else if (c == '\n') {
      text += "↵";
    } else if (c == '\t') {
      text += "→";
    } else {
      text += c;
    }
  }
  return text;
}

std::int64_t BytePieces::size() const {
  return kFirstPiece + static_cast<std::int64_t>(state_->pieces.size());
}

const std::vector<Piece>& BytePieces::pieces() const {
  return state_->pieces;
}

BytePieces::Opening BytePieces::opening() const {
  return state_->opening;
}

std::size_t whole_characters(std::string_view bytes) {
  for (std::size_t back = 1; back <= 3 && back <= bytes.size(); ++back) {
    const char c = bytes[bytes.size() - back];
    if (continues(c)) continue;
    const std::size_t length = length_of(static_cast<unsigned char>(c));
    return length > back ? bytes.size() - back : bytes.size();
  }
  return bytes.size();
}

}  // namespace attn::text
