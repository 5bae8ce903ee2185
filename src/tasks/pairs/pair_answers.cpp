// Answers of models of text pairs: a text is refused, split, prepared and searched for as its
// task says.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/search.hpp"
#include "attn/models/steering.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/answer_json.hpp"
#include "attn/tasks/answerer.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/languages.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/faithful.hpp"
#include "tasks/heads.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

using Tokens = std::vector<std::int64_t>;

/// Rows times beams times tokens of the source in one search: enough to keep products busy,
/// and little memory.
constexpr std::size_t kTokensOfASearch = 8192;
/// The GPU takes more at a time.
constexpr std::size_t kTokensOnGpu = std::size_t{1} << 18;

Answer answer_of(const PairModel& model, models::Hypothesis found, const Tokens& source,
                 std::size_t padded) {
  // Weights of the padding are 0 and nobody's.
  std::vector<float> weights;
  for (std::size_t row = 0; row * padded < found.weights.size(); ++row) {
    const auto first = found.weights.begin() + static_cast<std::ptrdiff_t>(row * padded);
    weights.insert(weights.end(), first, first + static_cast<std::ptrdiff_t>(source.size()));
  }
  return {.text = model.target.decode(found.tokens),
          .score = found.score,
          .log_probability = found.log_probability,
          .finished = found.finished,
          .source = source,
          .target = std::move(found.tokens),
          .weights = std::move(weights)};
}

std::string prepared(const PairTask& task, const std::string& text) {
  return task.prepare ? task.prepare(text) : text;
}

/// Tokens of a text, the end among them.
std::size_t token_count(const PairModel& model, const std::string& text) {
  return model.source.encode(text).size() + 1;
}

bool has_positions(const models::Steering& steering) {
  return !steering.forbid.empty() || !steering.force.empty();
}

/// Gives each piece its part of the steering, by the tokens that the model reads of it.
void share_steering(const models::Steering& steering, const PairModel& model,
                    const std::vector<std::string>& sources, std::vector<Piece>& pieces) {
  for (Piece& piece : pieces) piece.steering.temperature = steering.temperature;
  if (!has_positions(steering)) return;
  const auto most = static_cast<std::size_t>(model.limits.source) + 1;
  std::vector<std::int64_t> ends;  // of the pieces, in tokens of the whole text
  ends.reserve(sources.size());
  std::int64_t all = 0;
  for (const std::string& source : sources)
    ends.push_back(all +=
                   static_cast<std::int64_t>(std::min(token_count(model, source), most)));
  steering.validate(all);
  const auto piece_of = [&](std::int64_t position) {
    return static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), position) -
                                    ends.begin());
  };
  const auto first_of = [&](std::size_t piece) { return piece == 0 ? 0 : ends[piece - 1]; };
  for (const std::int64_t position : steering.forbid) {
    const std::size_t piece = piece_of(position);
    pieces[piece].steering.forbid.push_back(position - first_of(piece));
  }
  for (const models::Steering::Force& force : steering.force) {
    const std::size_t piece = piece_of(force.position);
    pieces[piece].steering.force.push_back({force.step, force.position - first_of(piece)});
  }
}

/// The answers of one rank as one answer; the ends of pieces stay among the tokens.
Answer joined(const std::vector<Piece>& pieces, std::size_t rank) {
  Answer whole;
  whole.finished = true;
  std::size_t columns = 0;
  bool attends = true;
  const auto part = [rank](const Piece& piece) -> const Answer& {
    return piece.answers[std::min(rank, piece.answers.size() - 1)];
  };
  for (const Piece& piece : pieces) {
    columns += part(piece).source.size();
    attends = attends && !part(piece).weights.empty();
  }
  std::size_t before = 0;
  for (const Piece& piece : pieces) {
    const Answer& one = part(piece);
    if (!whole.text.empty() && !one.text.empty()) whole.text += " ";
    whole.text += one.text;
    whole.score += one.score;
    whole.log_probability += one.log_probability;
    whole.finished = whole.finished && one.finished;
    if (&piece != &pieces.front()) whole.target.push_back(text::Mark::eos);
    whole.target.insert(whole.target.end(), one.target.begin(), one.target.end());
    whole.source.insert(whole.source.end(), one.source.begin(), one.source.end());
    const std::size_t width = one.source.size();
    for (std::size_t at = 0; attends && at < one.weights.size(); at += width) {
      const std::size_t row = whole.weights.size();
      whole.weights.resize(row + columns, 0.0f);
      std::copy_n(one.weights.begin() + static_cast<std::ptrdiff_t>(at), width,
                  whole.weights.begin() + static_cast<std::ptrdiff_t>(row + before));
    }
    before += width;
  }
  return whole;
}

void join(Reply& reply) {
  if (reply.pieces.size() == 1) {
    reply.answers = reply.pieces.front().answers;
    return;
  }
  std::size_t ranks = 0;
  for (const Piece& piece : reply.pieces) ranks = std::max(ranks, piece.answers.size());
  for (std::size_t rank = 0; rank < ranks; ++rank)
    reply.answers.push_back(joined(reply.pieces, rank));
}

/// Hypotheses of the search that looks for lost numbers.
constexpr std::int64_t kWideBeam = 16;

std::size_t lost_numbers(const std::string& source, const Answer& answer) {
  const NumberCounts counts = count_numbers({&source, 1}, {&answer.text, 1});
  return counts.in_texts - counts.kept;
}

/// Looks further where a number of the text is not in its answer. Few texts need it.
void find_numbers(const PairModel& model, const std::vector<std::string>& sources,
                  models::SearchOptions search, std::vector<std::vector<Answer>>& answers) {
  std::vector<std::size_t> positions;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (lost_numbers(sources[i], answers[i].front()) == 0) continue;
    positions.push_back(i);
    texts.push_back(sources[i]);
  }
  if (texts.empty()) return;
  search.beam = kWideBeam;
  std::vector<std::vector<Answer>> wider = tasks::answer(model, texts, search);
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (lost_numbers(texts[i], wider[i].front()) <
        lost_numbers(texts[i], answers[positions[i]].front()))
      answers[positions[i]] = std::move(wider[i]);
}

/// Above this share of characters that a vocabulary does not hold, a text is noise to its
/// model.
constexpr double kMostlyUnknown = 0.5;

/// A text without its mark, and the mark for the model.
struct Asked {
  std::string text;
  std::string mark;
};

class PairAnswers final : public Model {
 public:
  PairAnswers(PairModel model, const Task& task)
      : model_(std::move(model)),
        task_(task),
        recipe_(pair_task_named(task.name())),
        languages_(languages_of(model_.language)) {}

  const Task& task() const override { return task_; }
  nn::Module& module() const override { return *model_.model; }
  std::string kind() const override { return kind_of(model_); }
  const PairModel* pairs() const override { return &model_; }
  Languages languages() const override {
    return model_.language.empty() ? Model::languages() : languages_;
  }

  std::string refusal(const Input& input) const override;
  std::vector<Reply> answer(std::span<const Input> inputs, const Choices& choices,
                            const Done& done) const override;
  maps::Map map(const Input&, const Piece& piece, std::string_view heads) const override {
    const Answer& best = piece.answers.front();
    if (heads.empty()) return answer_map(model_, best);
    return heads_map(model_, best, piece.steering, heads == "all" ? "" : heads);
  }
  nlohmann::json json_of(const Input&, const Reply& reply, Detail detail) const override {
    return reply_json(model_, reply, detail);
  }
  nlohmann::json line_of(const std::string&, const Input& input, const Reply& reply,
                         Detail detail) const override {
    nlohmann::json line = reply_json(model_, reply, detail);
    line.erase("answers");
    line["text"] = input.text();
    line["answer"] = reply.answers.front().text;
    return line;
  }

 private:
  Asked asked(const Input& input) const;
  std::vector<Piece> pieces_of(const std::string& text) const;
  /// The text as the model reads it.
  std::string marked(const Asked& asked, const std::string& text) const {
    return asked.mark + prepared(recipe_, text);
  }
  void tell(const Asked& asked, const Choices& choices, Reply& reply) const;

  PairModel model_;
  const Task& task_;
  const PairTask& recipe_;
  Languages languages_;
};

/// Which language is wanted stands before the text, or in the part "to"; else it is the first.
Asked PairAnswers::asked(const Input& input) const {
  if (!languages_.chooses()) return {input.text(), ""};
  std::string_view text = input.text();
  std::string language = take_mark(text);
  if (!languages_.has(language)) {
    text = input.text();
    const auto* to = input.find<std::string>("to");
    language = to == nullptr ? languages_.to.front() : *to;
  }
  return {std::string(text), mark_of(language)};
}

std::string PairAnswers::refusal(const Input& input) const {
  const std::string text = asked(input).text;
  if (!files::is_utf8(text))
    return "is not UTF-8: " + files::in_quotes(text) +
           "; convert it first, for example with iconv";
  if (text.find('\0') != std::string::npos)
    return "has a NUL byte: " + files::in_quotes(text) + "; texts without one are accepted";
  if (text::normalise(text).empty()) return "is empty; there is nothing to do";
  const auto* to = input.find<std::string>("to");
  if (to != nullptr && !languages_.to.empty() && !languages_.has(*to))
    return "cannot be translated into " + files::in_quotes(*to) + " by this model (" +
           model_.language + ")";
  if (std::string problem = recipe_.refuse ? recipe_.refuse(model_, text) : "";
      !problem.empty())
    return problem;
  if (model_.source.unknown_share(prepared(recipe_, text)) > kMostlyUnknown)
    return "is mostly in characters that the model never learnt: " + files::in_quotes(text) +
           "; it would be answered with noise";
  return "";
}

std::vector<Piece> PairAnswers::pieces_of(const std::string& text) const {
  std::vector<std::string> texts =
      recipe_.split ? recipe_.split(model_, text) : std::vector<std::string>{text};
  std::vector<Piece> pieces(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) pieces[i].source = std::move(texts[i]);
  return pieces;
}

void PairAnswers::tell(const Asked& asked, const Choices& choices, Reply& reply) const {
  if (model_.calibration) {
    const std::string text = prepared(recipe_, asked.text);
    const bool own_words = choices.temperature == 0.0 && choices.steering.as_trained();
    reply.unfamiliar = model_.calibration->is_unfamiliar(
        text, model_.source.unknown_share(text),
        own_words ? std::optional(log_probability_of_token(reply.answers.front()))
                  : std::nullopt);
    if (reply.unfamiliar)
      reply.notes.push_back(
          "This text is unlike what the model learnt from; the answer is a guess.");
  }
  const auto most = static_cast<std::size_t>(model_.limits.source);
  std::size_t read = 0;
  std::size_t all = 0;
  for (Piece& piece : reply.pieces) {
    const std::size_t here = piece.answers.front().source.size();
    read += here;
    // A text is cut at the limit alone, so that others need not be tokenised again.
    const std::size_t tokens =
        here > most ? token_count(model_, marked(asked, piece.source)) : here;
    piece.cut = tokens > here;
    reply.cut = reply.cut || piece.cut;
    all += tokens;
  }
  if (reply.cut)
    reply.notes.push_back("Only the first " + std::to_string(read) + " of " +
                          std::to_string(all) + " tokens were read: the model reads at most " +
                          std::to_string(most) + " at once.");
  if (!reply.answers.front().finished)
    reply.notes.push_back("The answer reached the longest length, " +
                          std::to_string(model_.limits.target) +
                          " tokens, and may lack its end.");
}

std::vector<Reply> PairAnswers::answer(std::span<const Input> inputs, const Choices& choices,
                                       const Done& done) const {
  models::SearchOptions search = search_of(task_, choices);
  std::vector<Reply> replies(inputs.size());
  std::vector<std::string> sources;
  std::vector<Asked> questions;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Asked& question = questions.emplace_back(asked(inputs[i]));
    replies[i].pieces = pieces_of(question.text);
    std::vector<std::string> own;
    for (const Piece& piece : replies[i].pieces) own.push_back(marked(question, piece.source));
    share_steering(choices.steering, model_, own, replies[i].pieces);
    sources.insert(sources.end(), own.begin(), own.end());
  }

  std::vector<std::vector<Answer>> answers;
  if (!has_positions(choices.steering)) {
    answers = tasks::answer(model_, sources, search, done);
    const bool keeps =
        recipe_.numbers == Numbers::all && model_.calibration &&
        (model_.calibration->copies_numbers || model_.calibration->copies_digits);
    // A beam that the caller chose is the caller's.
    if (keeps && !choices.beam && search.beam < kWideBeam && search.temperature == 0.0)
      find_numbers(model_, sources, search, answers);
  } else {
    // Positions mean the same to all texts of a batch, so each piece is a batch of its own.
    for (const Reply& reply : replies)
      for (const Piece& piece : reply.pieces) {
        search.steering = piece.steering;
        answers.push_back(
            std::move(tasks::answer(model_, {&sources[answers.size()], 1}, search).front()));
        if (done) done(static_cast<std::int64_t>(answers.size()));
      }
  }
  auto next = answers.begin();
  for (std::size_t i = 0; i < replies.size(); ++i) {
    for (Piece& piece : replies[i].pieces) piece.answers = std::move(*next++);
    join(replies[i]);
    tell(questions[i], choices, replies[i]);
  }
  return replies;
}

}  // namespace

double log_probability_of_token(const Answer& answer) {
  return answer.log_probability / static_cast<double>(answer.target.size() + 1);
}

std::unique_ptr<Model> answering(PairModel model, const Task& task) {
  return std::make_unique<PairAnswers>(std::move(model), task);
}

std::vector<std::vector<Answer>> answer(const PairModel& model,
                                        std::span<const std::string> texts,
                                        const models::SearchOptions& options,
                                        const Done& done) {
  models::SearchOptions within = options;
  within.max_length = model.limits.target;
  if (!within.likeness)
    within.likeness = [&model, metric = pair_task_named(model.task).metric](
                          const Tokens& one, const Tokens& other) {
      return sentence_score(metric, model.target.decode(one), model.target.decode(other));
    };
  const Faithful faithful(model, pair_task_named(model.task), texts);
  std::vector<Tokens> sources;
  sources.reserve(texts.size());
  for (const std::string& text : texts)
    sources.push_back(encode_source(model.source, text, model.limits.source));
  std::vector<std::size_t> order(texts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(sources[a].size(), a) < std::pair(sources[b].size(), b);
  });

  std::vector<std::vector<Answer>> answers(texts.size());
  const auto beam = static_cast<std::size_t>(options.beam);
  const std::size_t most =
      model.model->device() == Device::gpu ? kTokensOnGpu : kTokensOfASearch;
  std::size_t begin = 0;  // of the batch that is searched, in `order`
  const auto text_of = [&](std::int64_t source) {
    return order[begin + static_cast<std::size_t>(source)];
  };
  if (faithful.has_rules()) {
    within.forbid = [&](std::int64_t source, std::span<const std::int64_t> said,
                        std::span<float> next) {
      faithful.forbid(text_of(source), said, next);
    };
    within.fault = [&](std::int64_t source, std::span<const std::int64_t> said) {
      return faithful.fault(text_of(source), said);
    };
  }
  // Nothing to read, nothing to say: eos alone.
  for (; begin < order.size() && sources[order[begin]].size() == 1; ++begin) {
    Answer& empty = answers[order[begin]].emplace_back();
    empty.finished = true;
    empty.source = sources[order[begin]];
  }
  while (begin < order.size()) {
    std::size_t end = begin + 1;
    while (end < order.size() && (end + 1 - begin) * beam * sources[order[end]].size() <= most)
      ++end;
    std::vector<Tokens> group;
    group.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) group.push_back(sources[order[i]]);
    const SourceBatch batch = collate_sources(group);
    auto found = models::search(*model.model, batch.source, batch.lengths, within);
    const auto padded = static_cast<std::size_t>(batch.source.size(1));
    for (std::size_t i = begin; i < end; ++i)
      for (models::Hypothesis& one : found[i - begin])
        answers[order[i]].push_back(
            answer_of(model, std::move(one), sources[order[i]], padded));
    begin = end;
    if (done) done(static_cast<std::int64_t>(begin));
  }
  return answers;
}

}  // namespace attn::tasks
