// How classify reads a text.

#include "tasks/classify/words.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/text/unicode.hpp"
#include "tasks/loading.hpp"
#include "tasks/sentence_task.hpp"

namespace attn::tasks::classify {
namespace {

constexpr std::string_view kBegins = "\"(";
constexpr std::string_view kEnds = ".,?!:;\")";
/// Of a longer word the rest is not looked at: it is no word.
constexpr std::size_t kLongestWord = 64;

/// Nothing behind this is split into words: they would be too many anyway.
constexpr std::size_t kMostBytes = std::size_t{1} << 17;

/// The first bytes of a text, whole characters of them.
std::string_view front_of(std::string_view text) {
  if (text.size() <= kMostBytes) return text;
  std::size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  return text.substr(0, end);
}

void add_words(std::string_view word, std::vector<std::string>& words) {
  while (word.size() > 1 && kBegins.find(word.front()) != std::string_view::npos) {
    words.emplace_back(word.substr(0, 1));
    word.remove_prefix(1);
  }
  std::size_t end = word.size();
  while (end > 1 && kEnds.find(word[end - 1]) != std::string_view::npos) --end;
  words.emplace_back(word.substr(0, end));
  for (; end < word.size(); ++end) words.emplace_back(word.substr(end, 1));
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : text::split_words(text)) add_words(word, words);
  return words;
}

std::size_t Reading::words() const {
  std::size_t count = 0;
  for (const auto& sentence : sentences) count += sentence.size();
  return count;
}

Reading read_sentences(std::string_view text) {
  Reading reading;
  const std::string_view front = front_of(text);
  reading.cut = front.size() < text.size();
  for (const std::string& sentence : sentences(front)) {
    std::vector<std::string> words = words_of(sentence);
    for (std::size_t begin = 0; begin < words.size(); begin += kMostWordsOfSentence) {
      const std::size_t end = std::min(words.size(), begin + kMostWordsOfSentence);
      if (reading.sentences.size() == kMostSentences) {
        reading.cut = true;
        return reading;
      }
      auto& part = reading.sentences.emplace_back();
      for (std::size_t i = begin; i < end; ++i) part.push_back(std::move(words[i]));
    }
  }
  return reading;
}

Reading read_words(std::string_view text) {
  const std::string_view front = front_of(text);
  std::vector<std::string> words = words_of(front);
  const bool cut = front.size() < text.size() || words.size() > kMostWords;
  if (words.size() > kMostWords) words.resize(kMostWords);
  return {{std::move(words)}, cut};
}

std::string key_of(std::string_view word) {
  std::string key(word.substr(0, kLongestWord));
  if (is_ascii(word)) {
    for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  } else {
    key = text::to_utf8(text::code_points(word).substr(0, kLongestWord));
    key = text::lower(text::nfkc(key));
  }
  for (char& c : key)
    if (c >= '0' && c <= '9') c = '0';
  return key;
}

std::vector<std::int64_t> pieces_of(std::string_view key, std::int64_t buckets) {
  const std::u32string letters = U"<" + text::code_points(key).substr(0, kLongestWord) + U">";
  std::vector<std::int64_t> pieces;
  for (std::size_t begin = 0; begin < letters.size(); ++begin)
    for (const std::size_t length : {std::size_t{3}, std::size_t{4}}) {
      const bool whole = begin + length <= letters.size() || pieces.empty();
      if (!whole || pieces.size() == kMostPieces) continue;
      const std::string piece = text::to_utf8(letters.substr(begin, length));
      pieces.push_back(
          static_cast<std::int64_t>(split_hash(piece) % static_cast<std::uint64_t>(buckets)));
    }
  return pieces;
}

std::int64_t shape_of(std::string_view word) {
  std::int64_t capitals = 0;
  for (const char c : word) {
    if (c >= '0' && c <= '9') return 3;
    capitals += c >= 'A' && c <= 'Z' ? 1 : 0;
  }
  if (capitals == 0) return 0;
  return capitals == 1 && word.front() >= 'A' && word.front() <= 'Z' ? 1 : 2;
}

}  // namespace attn::tasks::classify
