#include "tasks/compose/network.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/models/next_token.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/compose/abc.hpp"
#include "tasks/compose/layers.hpp"
#include "tasks/compose/music.hpp"
#include "tasks/compose/notation.hpp"

namespace attn::tasks::compose {
namespace {

constexpr std::int64_t kUsualTokens = 256;
/// Pieces that are read side by side.
constexpr std::size_t kRows = 8;

Positions positions_named(const std::string& name, const std::string& where) {
  if (name == "relative") return Positions::relative;
  if (name == "sinusoidal") return Positions::sinusoidal;
  if (name == "none") return Positions::none;
  fail<FileError>(where, ": positions is ", files::in_quotes(name),
                  "; there are relative, sinusoidal, none");
}

MusicOptions options_of(const nlohmann::json& model, const Notation& notation,
                        const std::string& where) {
  const auto number = [&](const char* member) {
    return files::to_int(files::member(model, member, where), where);
  };
  const MusicOptions options{
      .vocabulary = notation.count(),
      .slots = notation.slots(),
      .dim = number("dim"),
      .layers = number("layers"),
      .heads = number("heads"),
      .feed_forward = number("feed_forward"),
      .window = number("window"),
      .dropout = files::to_double(files::member(model, "dropout", where), where),
      .positions = positions_named(
          files::to_text(files::member(model, "positions", where), where), where)};
  if (options.dim % options.heads != 0)
    fail<FileError>(where, ": dim is ", options.dim, " and heads ", options.heads,
                    "; heads that divide dim are accepted");
  if (options.window % options.slots != 0)
    fail<FileError>(where, ": a window of ", options.window, " tokens; whole steps of ",
                    options.slots, " are accepted");
  return options;
}

/// Inputs and targets of some pieces, as long as the longest, and which targets may be.
struct Rows {
  Tensor inputs;
  Tensor targets;
  Tensor penalties;
  std::int64_t count = 0;  ///< of targets that are no padding
};

/// Targets `begin` to `end` of a piece.
struct Span {
  const Tokens* piece;
  std::size_t begin;
  std::size_t end;
  std::size_t counted = 0;  ///< of them, how many were told before
};

Rows rows_of(std::span<const Span> spans, const Notation& notation) {
  std::size_t longest = 1;
  for (const Span& span : spans) longest = std::max(longest, span.end - span.begin);
  const auto classes = static_cast<std::size_t>(notation.count());
  Tokens inputs(spans.size() * longest, kPad);
  Tokens targets(spans.size() * longest, kPad);
  std::vector<float> penalties(spans.size() * longest * classes, 0.0f);
  Rows rows;
  for (std::size_t row = 0; row < spans.size(); ++row) {
    const Span& span = spans[row];
    const Tokens& piece = *span.piece;
    for (std::size_t i = span.begin; i < span.end; ++i) {
      const std::size_t at = row * longest + i - span.begin;
      inputs[at] = i == 0 ? kBegin : piece[i - 1];
      notation.forbid(std::span(piece).first(i), penalties.data() + at * classes);
      if (i - span.begin < span.counted) continue;
      targets[at] = piece[i];
      ++rows.count;
    }
  }
  const Shape shape{static_cast<std::int64_t>(spans.size()),
                    static_cast<std::int64_t>(longest)};
  rows.inputs = Tensor::from(inputs, shape);
  rows.targets = Tensor::from(targets, shape);
  rows.penalties = Tensor::from(penalties, {shape[0], shape[1], notation.count()});
  return rows;
}

/// Reads what is written and tells of the next token; where its window is full, it reads the
/// last half of it anew, from the beginning of a step.
class Reader {
 public:
  Reader(const MusicTransformer& model, const Notation& notation)
      : model_(model), notation_(notation) {}

  /// Of the token behind these, of which the reader has read all but the last ones.
  std::vector<float> next(const Tokens& tokens) {
    const auto window = static_cast<std::size_t>(model_.options().window);
    const auto slots = static_cast<std::size_t>(model_.options().slots);
    const std::size_t wanted = tokens.size() + 1;  // inputs, the beginning included
    if (wanted - first_ > window) {
      first_ = (wanted - std::max<std::size_t>(1, window / 2)) / slots * slots;
      read_ = first_;
      reading_ = {};
    }
    Tokens ids;
    for (std::size_t i = read_; i < wanted; ++i) ids.push_back(i == 0 ? kBegin : tokens[i - 1]);
    read_ = wanted;
    const auto count = static_cast<std::int64_t>(ids.size());
    const Tensor all = model_.logits(Tensor::from(ids, {1, count}), reading_);
    auto logits = all.select(1, count - 1).select(0, 0).to_vector<float>();
    std::vector<float> penalties(logits.size());
    notation_.forbid(tokens, penalties.data());
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] += penalties[i];
    return logits;
  }

 private:
  const MusicTransformer& model_;
  const Notation& notation_;
  Reading reading_;
  std::size_t first_ = 0;  ///< input of the reading
  std::size_t read_ = 0;
};

float log_probability(const std::vector<float>& logits, std::int64_t token) {
  const Tensor all =
      log_softmax(Tensor::from(logits, {static_cast<std::int64_t>(logits.size())}));
  return all.data<float>()[token];
}

}  // namespace

ComposeNetwork::ComposeNetwork(const nlohmann::json& model, const nlohmann::json& facts,
                               const std::string& where)
    : variant_(files::to_text(files::member(model, "kind", where), where)),
      notation_(notation_of(facts, where)),
      model_(add_unnamed(MusicTransformer(options_of(model, *notation_, where)))) {
  if (files::to_text(files::member(facts, "kind", where), where) != variant_)
    fail<FileError>(where, ": the model is of ", files::printable(variant_),
                    "s, its lexicon is not");
}

std::int64_t ComposeNetwork::cost(const Example& example) const {
  const Input input = example.input();
  const std::string* text = piece_text(input);
  if (text == nullptr) fail("attn::tasks::compose: an example without a piece");
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(notation_->tokens_of(*text).size()),
                                  1, model_.options().window);
}

Learner::Lesson ComposeNetwork::loss(std::span<const Example* const> batch) const {
  const auto window = static_cast<std::size_t>(model_.options().window);
  const auto slots = static_cast<std::size_t>(model_.options().slots);
  std::vector<Tokens> pieces;
  for (const Example* example : batch) {
    const Input input = example->input();
    Tokens& tokens = pieces.emplace_back(notation_->tokens_of(*piece_text(input)));
    notation_->vary(tokens, nn::random());
  }
  std::vector<Span> spans;
  for (const Tokens& piece : pieces) {
    const std::size_t extra = piece.size() > window ? (piece.size() - window) / slots : 0;
    const std::size_t begin = extra == 0 ? 0 : nn::random().next() % (extra + 1) * slots;
    spans.push_back({&piece, begin, std::min(piece.size(), begin + window)});
  }
  const Rows rows = rows_of(spans, *notation_);
  const Tensor logits = model_.logits(rows.inputs);
  return {cross_entropy(logits + rows.penalties.to(logits.device()),
                        rows.targets.to(logits.device()), {.ignore_index = kPad}),
          rows.count};
}

std::vector<double> ComposeNetwork::read(std::span<const Tokens> pieces) const {
  const auto window = static_cast<std::size_t>(model_.options().window);
  const auto slots = static_cast<std::size_t>(model_.options().slots);
  std::vector<double> sums(pieces.size(), 0.0);
  std::vector<Span> spans;
  std::vector<std::size_t> owners;
  const auto count = [&] {
    if (spans.empty()) return;
    const Rows rows = rows_of(spans, *notation_);
    const Tensor logits = model_.logits(rows.inputs);
    const Tensor chances = log_softmax(logits + rows.penalties.to(logits.device()));
    const Tensor ids = rows.targets.to(logits.device()).unsqueeze(-1);
    const auto found = gather(chances, 2, ids).to_vector<float>();
    const auto width = static_cast<std::size_t>(rows.targets.size(1));
    for (std::size_t row = 0; row < spans.size(); ++row)
      for (std::size_t i = spans[row].counted; i < spans[row].end - spans[row].begin; ++i)
        sums[owners[row]] += static_cast<double>(found[row * width + i]);
    spans.clear();
    owners.clear();
  };
  // A whole window first; then each goes half a window on.
  const std::size_t stride = std::max(slots, window / 2 / slots * slots);
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::size_t told = 0;
    for (std::size_t begin = 0; told < pieces[i].size(); begin += stride) {
      const std::size_t end = std::min(pieces[i].size(), begin + window);
      spans.push_back({&pieces[i], begin, end, told - begin});
      owners.push_back(i);
      told = end;
      if (spans.size() == kRows) count();
    }
  }
  count();
  return sums;
}

std::string ComposeNetwork::refusal(const Input& input) const {
  if (piece_text(input) != nullptr) return "";
  const std::string& text = input.text();
  if (text.size() > kMostAbcBytes)
    return "has " + std::to_string(text.size()) + " bytes; at most " +
           std::to_string(kMostAbcBytes) + " are read";
  if (!files::is_utf8(text)) return "is not UTF-8";
  try {
    const bool blank = text.find_first_not_of(" \t\r\n") == std::string::npos;
    // A tune may begin with a metre and a key alone.
    if (notes_of(input).notes.empty() && !blank && text.find(':') == std::string::npos)
      return "has no notes in ABC, such as \"K:G\" and \"GABc d2e2\"";
    return notation_->opening(input).problem;
  } catch (const Error& error) {
    return std::string("cannot be read: ") + error.what();
  }
}

Reply ComposeNetwork::go_on(const Input& input, const Choices& choices) const {
  Opening opening = notation_->opening(input);
  Answer answer;
  answer.source = opening.tokens;
  Tokens tokens = opening.tokens;
  Reader reader(model_, *notation_);
  std::vector<float>& chances = answer.numbers["log_probabilities"];
  const std::int64_t most = choices.tokens.value_or(kUsualTokens);
  for (std::int64_t step = 0; step < most; ++step) {
    const std::vector<float> logits = reader.next(tokens);
    const std::int64_t token = models::next_token(logits, {.temperature = choices.temperature,
                                                           .top = choices.top,
                                                           .top_p = choices.top_p,
                                                           .seed = choices.seed,
                                                           .step = step});
    chances.push_back(log_probability(logits, token));
    answer.log_probability += static_cast<double>(chances.back());
    answer.finished = notation_->ends(token);
    if (answer.finished) break;
    tokens.push_back(token);
    answer.target.push_back(token);
    if (choices.told && !choices.told(notation_->label(token))) break;
  }
  Composition made = notation_->composition(tokens);
  answer.score = answer.log_probability;
  answer.text = made.text;
  answer.output = table_of(made.music);
  answer.numbers["tempo"] = {static_cast<float>(made.music.tempo)};
  Reply reply;
  reply.notes = opening.notes;
  if (!made.problem.empty())
    reply.notes.push_back("what was composed cannot be played: " + made.problem);
  reply.answers = {answer};
  reply.pieces = {{input.text(), false, {}, {std::move(answer)}}};
  return reply;
}

std::vector<Reply> ComposeNetwork::answer(std::span<const Input> inputs,
                                          const Choices& choices) const {
  const NoGrad off_the_tape;
  std::vector<Reply> replies(inputs.size());
  std::vector<Tokens> pieces;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (const std::string* text = piece_text(inputs[i])) {
      pieces.push_back(notation_->tokens_of(*text));
      places.push_back(i);
    } else {
      replies[i] = go_on(inputs[i], choices);
    }
  }
  const std::vector<double> sums = read(pieces);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    Answer answer;
    answer.log_probability = answer.score = sums[i];
    answer.finished = true;
    const double units = std::max(1.0, units_of(inputs[places[i]]));
    answer.text = std::to_string(-sums[i] / units) + " nats";
    Reply& reply = replies[places[i]];
    reply.answers = {answer};
    reply.pieces = {{"", false, {}, {std::move(answer)}}};
  }
  return replies;
}

}  // namespace attn::tasks::compose
