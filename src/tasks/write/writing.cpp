// Writing on from a text: one token after another, each read once.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/models/language_model.hpp"
#include "attn/models/next_token.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/byte_pieces.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/write/network.hpp"
#include "tasks/write/passages.hpp"

namespace attn::tasks {
namespace {

using text::Mark;
using Tokens = std::vector<std::int64_t>;

constexpr std::int64_t kTokens = 200;  ///< unless told
constexpr const char* kReplacement = "\xEF\xBF\xBD";

/// A text that may be longer than what is read of it.
struct Prompt {
  Tokens tokens;
  bool cut = false;
};

Prompt prompt_of(const std::string& text, const text::BytePieces& pieces, std::int64_t window) {
  // No piece is longer, so what is left out would not be read.
  constexpr std::size_t kLongestPiece = 64;
  const std::size_t most = static_cast<std::size_t>(window) * kLongestPiece;
  std::size_t begin = text.size() > most ? text.size() - most : 0;
  while (begin > 0 && begin < text.size() &&
         (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U)
    ++begin;
  Prompt prompt{pieces.encode(std::string_view(text).substr(begin)), begin > 0};
  // One place is for the mark, and one for what comes next.
  const auto room = static_cast<std::size_t>(std::max<std::int64_t>(1, window - 2));
  if (prompt.tokens.size() > room) {
    const auto least = static_cast<std::size_t>(std::max<std::int64_t>(1, window / 2));
    prompt.tokens.erase(prompt.tokens.begin(),
                        prompt.tokens.end() - static_cast<std::ptrdiff_t>(least));
    prompt.cut = true;
  } else {
    prompt.tokens.insert(prompt.tokens.begin(), Mark::bos);
  }
  return prompt;
}

/// Reads what is written and tells of the next token; where its window is full, it reads the
/// last half of it anew.
class Reader {
 public:
  explicit Reader(const models::LanguageModel& model) : model_(model) {}

  std::vector<float> read(std::span<const std::int64_t> tokens) {
    const std::int64_t window = model_.options().window;
    seen_.insert(seen_.end(), tokens.begin(), tokens.end());
    if (reading_.length() + static_cast<std::int64_t>(tokens.size()) > window) {
      const auto half = static_cast<std::ptrdiff_t>(std::max<std::int64_t>(1, window / 2));
      seen_.erase(seen_.begin(), seen_.end() - half);
      reading_ = {};
      tokens = seen_;
    }
    const Tokens fresh(tokens.begin(), tokens.end());
    const Tensor ids = Tensor::from(fresh, {1, static_cast<std::int64_t>(fresh.size())});
    const Tensor logits = model_.logits(ids, reading_);
    return logits.select(1, logits.size(1) - 1).select(0, 0).to_vector<float>();
  }

 private:
  const models::LanguageModel& model_;
  models::Reading reading_;
  Tokens seen_;
};

float log_probability(const std::vector<float>& logits, std::int64_t token) {
  const Tensor all =
      log_softmax(Tensor::from(logits, {static_cast<std::int64_t>(logits.size())}));
  return all.data<float>()[token];
}

/// Characters beyond white space that the pieces have to spell in bytes, of all of them.
double spelt_share(const Tokens& tokens, const text::BytePieces& pieces) {
  double spelt = 0.0;
  double all = 0.0;
  for (const std::int64_t token : tokens)
    for (const char c : pieces.bytes(token)) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte <= ' ' || (byte & 0xC0U) == 0x80U) continue;  // one count a character
      all += 1.0;
      spelt += pieces.is_byte(token) && byte >= 0x80 ? 1.0 : 0.0;
    }
  return all > 0.0 ? spelt / all : 0.0;
}

}  // namespace

std::string WrittenText::add(std::string_view bytes) {
  waiting_ += bytes;
  const std::size_t whole = text::whole_characters(waiting_);
  std::string ready;
  std::size_t at = 0;
  while (at < whole) {
    std::size_t length = 1;
    while (at + length < whole &&
           (static_cast<unsigned char>(waiting_[at + length]) & 0xC0U) == 0x80U)
      ++length;
    const std::string_view one = std::string_view(waiting_).substr(at, length);
    if (files::is_utf8(one)) {
      ready += one;
    } else {
      for (std::size_t i = 0; i < length; ++i) ready += kReplacement;
    }
    at += length;
  }
  waiting_.erase(0, whole);
  return ready;
}

std::string WriteNetwork::refusal(const Input& input) const {
  if (is_passage(input)) return "";
  constexpr double kMostSpelt = 0.5;
  const std::string& text = input.text();
  if (!files::is_utf8(text)) return "is not UTF-8";
  if (text.find('\0') != std::string::npos) return "has a NUL character; text without is read";
  const Tokens tokens = prompt_of(text, pieces_, model_.options().window).tokens;
  if (spelt_share(tokens, pieces_) > kMostSpelt)
    return "is mostly in letters that the model never read; it cannot go on with them";
  return "";
}

Reply WriteNetwork::write_on(const std::string& prompt, const Choices& choices) const {
  const NoGrad off_the_tape;
  const std::int64_t window = model_.options().window;
  const Prompt begin = prompt_of(prompt, pieces_, window);
  Answer answer;
  answer.source = begin.tokens;
  answer.text = prompt;
  Reader reader(model_);
  WrittenText written;
  const auto tell = [&](const std::string& part) {
    answer.text += part;
    return part.empty() || !choices.told || choices.told(part);
  };
  const std::int64_t most = choices.tokens.value_or(kTokens);
  bool goes_on = !choices.told || prompt.empty() || choices.told(prompt);
  std::vector<float> logits = reader.read(begin.tokens);
  std::vector<float>& log_probabilities = answer.numbers["log_probabilities"];
  for (std::int64_t step = 0; step < most && goes_on; ++step) {
    const std::int64_t token = models::next_token(logits, {.temperature = choices.temperature,
                                                           .top = choices.top,
                                                           .top_p = choices.top_p,
                                                           .seed = choices.seed,
                                                           .step = step});
    log_probabilities.push_back(log_probability(logits, token));
    answer.log_probability += static_cast<double>(log_probabilities.back());
    // Models that learnt from texts side by side end one where they begin another.
    answer.finished = token == Mark::eos || token == Mark::bos;
    if (answer.finished) break;
    answer.target.push_back(token);
    std::string_view bytes = pieces_.bytes(token);
    const bool opens = prompt.empty() && answer.target.size() == 1 &&
                       pieces_.opening() == text::BytePieces::Opening::space;
    if (opens && bytes.starts_with(' ')) bytes.remove_prefix(1);
    goes_on = tell(written.add(bytes));
    if (goes_on && step + 1 < most) logits = reader.read(std::span(&token, 1));
  }
  answer.score = answer.log_probability;
  Reply reply;
  reply.cut = begin.cut;
  if (begin.cut)
    reply.notes.push_back("of the text the last " + std::to_string(begin.tokens.size()) +
                          " pieces are read; the model sees " + std::to_string(window) +
                          " at once");
  if (spelt_share(begin.tokens, pieces_) > 0.0)
    reply.notes.emplace_back(
        "some letters of the text were hardly in what the model learnt from");
  reply.answers = {answer};
  reply.pieces = {{prompt, begin.cut, {}, {std::move(answer)}}};
  return reply;
}

}  // namespace attn::tasks
