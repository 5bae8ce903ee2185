#include "tasks/write/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/kernels/rotary.hpp"
#include "attn/models/language_model.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/norm.hpp"
#include "attn/nn/transformer/transformer_layer.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/byte_pieces.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/write/passages.hpp"

namespace attn::tasks {
namespace {

using text::Mark;
using Tokens = std::vector<std::int64_t>;

template <class T>
T choice_of(const nlohmann::json& model, const char* member,
            std::initializer_list<std::pair<const char*, T>> names, const std::string& where) {
  const std::string& name = files::to_text(files::member(model, member, where), where);
  std::string all;
  for (const auto& [one, value] : names) {
    if (name == one) return value;
    all += (all.empty() ? "" : ", ") + std::string(one);
  }
  fail<FileError>(where, ": ", member, " is ", files::in_quotes(name), "; there are ", all);
}

/// Inputs and targets of some rows, as long as the longest; what is behind a row's end is
/// Mark::pad.
struct TokenRows {
  Tensor inputs;
  Tensor targets;
  std::int64_t count = 0;  ///< of targets that are none
};

struct Span {
  const Tokens* tokens;
  std::size_t begin;
  std::size_t targets;   ///< tokens begin + 1, ...
  std::size_t skip = 0;  ///< of those, how many were counted before
};

TokenRows rows_of(std::span<const Span> spans) {
  std::size_t longest = 1;
  for (const Span& span : spans) longest = std::max(longest, span.targets);
  Tokens inputs;
  Tokens targets;
  TokenRows rows;
  for (const Span& span : spans)
    for (std::size_t i = 0; i < longest; ++i) {
      const bool inside = i < span.targets;
      inputs.push_back(inside ? (*span.tokens)[span.begin + i] : Mark::pad);
      const bool counts = inside && i >= span.skip;
      targets.push_back(counts ? (*span.tokens)[span.begin + i + 1] : Mark::pad);
      rows.count += counts ? 1 : 0;
    }
  const Shape shape{static_cast<std::int64_t>(spans.size()),
                    static_cast<std::int64_t>(longest)};
  rows.inputs = Tensor::from(inputs, shape);
  rows.targets = Tensor::from(targets, shape);
  return rows;
}

}  // namespace

models::LanguageModelOptions language_model_options(const nlohmann::json& model,
                                                    std::int64_t tokens,
                                                    const std::string& where) {
  const auto number = [&](const char* member) {
    return files::to_int(files::member(model, member, where), where);
  };
  models::LanguageModelOptions options;
  options.vocabulary = tokens;
  options.dim = number("dim");
  options.layers = number("layers");
  options.rounds = number("rounds");
  options.heads = number("heads");
  options.key_value_heads = number("key_value_heads");
  options.feed_forward = number("feed_forward");
  options.window = number("window");
  options.tie = files::to_bool(files::member(model, "tie", where), where);
  options.dropout = files::to_double(files::member(model, "dropout", where), where);
  options.feed = choice_of<nn::FeedForward>(model, "feed",
                                            {{"plain", nn::FeedForward::plain},
                                             {"geglu", nn::FeedForward::geglu},
                                             {"swiglu", nn::FeedForward::swiglu}},
                                            where);
  options.norm = choice_of<nn::NormKind>(
      model, "norm", {{"layer", nn::NormKind::layer}, {"rms", nn::NormKind::rms}}, where);
  options.positions =
      choice_of<models::TextPositions>(model, "positions",
                                       {{"rotary", models::TextPositions::rotary},
                                        {"learned", models::TextPositions::learned},
                                        {"none", models::TextPositions::none}},
                                       where);
  options.rotary_pairs = choice_of<RotaryPairs>(
      model, "rotary_pairs",
      {{"halves", RotaryPairs::halves}, {"interleaved", RotaryPairs::interleaved}}, where);
  try {
    models::validate(options);
  } catch (const InvalidArgument& error) {
    fail<FileError>(where, ": ", error.what());
  }
  return options;
}

nlohmann::json facts_of(const text::BytePieces& pieces) {
  auto texts = nlohmann::json::array();
  auto scores = nlohmann::json::array();
  for (const text::Piece& piece : pieces.pieces()) {
    texts.push_back(piece.text);
    scores.push_back(piece.score);
  }
  return {
      {"pieces", std::move(texts)},
      {"scores", std::move(scores)},
      {"opening", pieces.opening() == text::BytePieces::Opening::space ? "space" : "as_it_is"}};
}

text::BytePieces pieces_of(const nlohmann::json& facts, const std::string& where) {
  const nlohmann::json& texts = files::member(facts, "pieces", where);
  const nlohmann::json& scores = files::member(facts, "scores", where);
  if (!texts.is_array() || !scores.is_array() || texts.size() != scores.size())
    fail<FileError>(where, ": pieces and scores are no lists of one length");
  std::vector<text::Piece> pieces;
  for (std::size_t i = 0; i < texts.size(); ++i)
    // Few, and their number is not known before.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    pieces.push_back({files::to_text(texts[i], where),
                      static_cast<float>(files::to_double(scores[i], where))});
  const auto opening =
      choice_of<text::BytePieces::Opening>(facts, "opening",
                                           {{"as_it_is", text::BytePieces::Opening::as_it_is},
                                            {"space", text::BytePieces::Opening::space}},
                                           where);
  try {
    return text::BytePieces(std::move(pieces), opening);
  } catch (const InvalidArgument& error) {
    fail<FileError>(where, ": ", error.what());
  }
}

WriteNetwork::WriteNetwork(const models::LanguageModelOptions& options, text::BytePieces pieces,
                           std::string variant)
    : model_(add_unnamed(models::LanguageModel(options))),
      pieces_(std::move(pieces)),
      variant_(std::move(variant)) {}

/// With marks where the document begins and ends.
Tokens WriteNetwork::encoded(const Example& example) const {
  const Input input = example.input();
  const Excerpt passage = passage_of(input);
  {
    const std::lock_guard lock(memory_->guard);
    const auto at = memory_->known.find(example.id);
    if (at != memory_->known.end() && at->second.text == passage.text) return at->second.tokens;
  }
  Tokens tokens;
  if (passage.begins) tokens.push_back(Mark::bos);
  const Tokens inside = pieces_.encode(passage.text);
  tokens.insert(tokens.end(), inside.begin(), inside.end());
  if (passage.ends) tokens.push_back(Mark::eos);
  return tokens;
}

std::int64_t WriteNetwork::cost(const Example& example) const {
  Tokens tokens = encoded(example);
  const auto count = static_cast<std::int64_t>(tokens.size()) - 1;
  const Input input = example.input();
  const std::lock_guard lock(memory_->guard);
  memory_->known[example.id] = {std::string(passage_of(input).text), std::move(tokens)};
  return std::clamp<std::int64_t>(count, 1, model_.options().window);
}

Learner::Lesson WriteNetwork::loss(std::span<const Example* const> batch) const {
  const auto rows = static_cast<std::int64_t>(batch.size());
  const auto window = static_cast<std::size_t>(model_.options().window);
  constexpr std::int64_t kFine = std::int64_t{1} << 30;
  const Tensor draws = random_integers({rows}, 0, kFine, nn::random());
  std::vector<Tokens> all;
  for (const Example* example : batch) all.push_back(encoded(*example));
  std::vector<Span> spans;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t targets = all[i].empty() ? 0 : all[i].size() - 1;
    const std::size_t extra = targets > window ? targets - window : 0;
    // Half a window beyond either end, then held inside: as many draws see the ends as others.
    const double share = static_cast<double>(draws.data<std::int64_t>()[i]) / kFine;
    const double place =
        share * static_cast<double>(extra + window) - static_cast<double>(window) / 2.0;
    const double inside = std::clamp(place, 0.0, static_cast<double>(extra));
    spans.push_back({&all[i], static_cast<std::size_t>(inside), std::min(targets, window)});
  }
  const TokenRows made = rows_of(spans);
  const Tensor logits = model_.logits(made.inputs);
  return {cross_entropy(logits, made.targets.to(logits.device()), {.ignore_index = Mark::pad}),
          made.count};
}

std::vector<double> WriteNetwork::read(std::span<const Tokens> passages) const {
  constexpr std::size_t kRows = 16;
  const auto window = static_cast<std::size_t>(model_.options().window);
  std::vector<double> sums(passages.size(), 0.0);
  std::vector<Span> spans;
  std::vector<std::size_t> owners;
  const auto count = [&] {
    if (spans.empty()) return;
    const TokenRows rows = rows_of(spans);
    const Tensor logits = model_.logits(rows.inputs);
    const Tensor ids = rows.targets.to(logits.device()).unsqueeze(-1);
    const auto found = gather(log_softmax(logits), 2, ids).to_vector<float>();
    const auto width = static_cast<std::size_t>(rows.targets.size(1));
    for (std::size_t row = 0; row < spans.size(); ++row)
      for (std::size_t i = spans[row].skip; i < spans[row].targets; ++i)
        sums[owners[row]] += static_cast<double>(found[row * width + i]);
    spans.clear();
    owners.clear();
  };
  // A whole window first; then each goes half a window on, and what it counts has at least
  // half a window before it.
  const std::size_t stride = std::max<std::size_t>(1, window / 2);
  for (std::size_t i = 0; i < passages.size(); ++i) {
    const std::size_t targets = passages[i].empty() ? 0 : passages[i].size() - 1;
    std::size_t counted = 0;
    for (std::size_t begin = 0; counted < targets; begin += stride) {
      const std::size_t here = std::min(window, targets - begin);
      spans.push_back({&passages[i], begin, here, counted - begin});
      owners.push_back(i);
      counted = begin + here;
      if (spans.size() == kRows) count();
    }
  }
  count();
  return sums;
}

std::vector<Reply> WriteNetwork::answer(std::span<const Input> inputs,
                                        const Choices& choices) const {
  std::vector<Reply> replies(inputs.size());
  std::vector<Tokens> passages;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!is_passage(inputs[i])) {
      replies[i] = write_on(inputs[i].text(), choices);
      continue;
    }
    Example example;
    example.parts = inputs[i].parts;
    Tokens tokens = encoded(example);
    // Of a part from the middle the first token has nothing before it; all are possible.
    if (tokens.empty() || tokens.front() != Mark::bos) tokens.insert(tokens.begin(), Mark::bos);
    passages.push_back(std::move(tokens));
    places.push_back(i);
  }
  const std::vector<double> sums = read(passages);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    Answer answer;
    answer.log_probability = answer.score = sums[i];
    answer.finished = true;
    const Excerpt passage = passage_of(inputs[places[i]]);
    const double bits = -sums[i] / std::log(2.0);
    answer.text = std::to_string(bits / static_cast<double>(std::max<std::size_t>(
                                            1, characters(passage.text)))) +
                  " bits a character";
    Reply& reply = replies[places[i]];
    reply.answers = {answer};
    reply.pieces = {{std::string(passage.text), false, {}, {std::move(answer)}}};
  }
  return replies;
}

}  // namespace attn::tasks
