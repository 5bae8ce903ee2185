// What each word looked at: tokens become words, and the weights of a word's tokens are put
// together.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/byte_pieces.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/write/network.hpp"

namespace attn::tasks {
namespace {

using Tokens = std::vector<std::int64_t>;

/// Words that a picture shows; more cannot be read.
constexpr std::size_t kMostWords = 48;

struct Word {
  std::string label;
  std::size_t begin;  ///< of its tokens
  std::size_t end;
};

/// Scripts without spaces: each character is a word.
bool stands_alone(std::string_view bytes) {
  return !bytes.empty() && static_cast<unsigned char>(bytes.front()) >= 0xE3;
}

/// A space or a line feed begins a word.
std::vector<Word> words_of(const Tokens& tokens, const text::BytePieces& pieces) {
  std::vector<Word> words;
  WrittenText text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view bytes = pieces.bytes(tokens[i]);
    const bool mark = bytes.empty();
    const bool begins = words.empty() || mark || bytes.front() == ' ' ||
                        bytes.front() == '\n' || stands_alone(bytes) ||
                        words.back().label.ends_with("↵") ||
                        words.back().label == pieces.label(text::Mark::bos);
    if (begins) words.push_back({"", i, i});
    Word& word = words.back();
    word.end = i + 1;
    if (mark) {
      word.label += pieces.label(tokens[i]);
    } else {
      for (const char c : text.add(bytes)) {
        if (c == '\n') {
          word.label += "↵";
        } else if (c == '\t') {
          word.label += "→";
        } else if (static_cast<unsigned char>(c) >= 0x20 && (c != ' ' || !word.label.empty())) {
          word.label += c;
        }
      }
    }
  }
  for (Word& word : words)
    if (word.label.empty()) word.label = "▁";
  return words;
}

/// Rows and columns are words: of a row the mean over its tokens, of a column the sum. Each
/// token was chosen by the position before it, so that row i + 1 of the tokens is row i here.
maps::Matrix between_words(const Tensor& weights, const std::vector<Word>& words,
                           std::size_t first) {
  const auto count = words.size() - first;
  const auto tokens = static_cast<std::size_t>(weights.size(0));
  const auto all = weights.to_vector<float>();
  maps::Matrix matrix{count, count, std::vector<float>(count * count, 0.0f)};
  for (std::size_t row = 0; row < count; ++row) {
    const Word& to = words[first + row];
    const std::size_t begin = std::max<std::size_t>(1, to.begin);
    if (begin >= to.end) continue;  // what begins the text was chosen by nothing
    for (std::size_t column = 0; column <= row; ++column) {
      const Word& from = words[first + column];
      double sum = 0.0;
      for (std::size_t i = begin; i < to.end; ++i)
        for (std::size_t j = from.begin; j < std::min(from.end, i); ++j)
          sum += static_cast<double>(all[(i - 1) * tokens + j]);
      matrix.values[row * count + column] =
          static_cast<float>(std::clamp(sum / static_cast<double>(to.end - begin), 0.0, 1.0));
    }
  }
  return matrix;
}

}  // namespace

maps::Map WriteNetwork::map(const Input&, const Piece& piece, std::string_view heads) const {
  const NoGrad off_the_tape;
  const Answer& answer = piece.answers.front();
  Tokens tokens = answer.source;
  tokens.insert(tokens.end(), answer.target.begin(), answer.target.end());
  if (tokens.empty()) tokens = {text::Mark::bos};
  const auto window = static_cast<std::size_t>(model_.options().window);
  if (tokens.size() > window)
    tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(window));
  const Tensor ids = Tensor::from(tokens, {1, static_cast<std::int64_t>(tokens.size())});
  const std::vector<Tensor> layers = model_.weights(ids);
  const std::vector<Word> words = words_of(tokens, pieces_);
  const std::size_t first = words.size() > kMostWords ? words.size() - kMostWords : 0;
  maps::Labels labels;
  for (std::size_t i = first; i < words.size(); ++i) labels.push_back(words[i].label);
  const std::string shown =
      first == 0 ? "" : " The last " + std::to_string(labels.size()) + " words are shown.";
  if (heads.empty()) {
    Tensor mean;
    for (const Tensor& layer : layers) {
      const Tensor one = attn::mean(layer.select(0, 0), 0);
      mean = mean.defined() ? mean + one : one;
    }
    mean = mean * (1.0 / static_cast<double>(layers.size()));
    return maps::Alignment{"what each word looked at",
                           "Each row is a word as it was chosen: the weights of the words "
                           "before it, the mean of all heads and layers." +
                               shown,
                           labels,
                           labels,
                           "word",
                           "earlier words",
                           between_words(mean, words, first)};
  }
  maps::Heads all{
      "what each head looked at",
      "Each row is a word as it was chosen: the weights of the words before it." + shown,
      labels,
      labels,
      {}};
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    for (std::int64_t head = 0; head < layers[layer].size(1); ++head)
      all.maps.push_back(
          {"decoder", static_cast<std::int64_t>(layer) + 1, head + 1,
           between_words(layers[layer].select(0, 0).select(0, head), words, first),
           std::nullopt, std::nullopt});
  return all;
}

}  // namespace attn::tasks
