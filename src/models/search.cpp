#include "attn/models/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/head_row.hpp"
#include "models/search_parts.hpp"

namespace attn::models {
namespace {

constexpr const char* kWhere = "attn::models::search: ";
/// A batch is searched in parts of about so many rows, each by one thread: nothing waits within
/// a step. Enough rows for products: 80 cost 8 % more a row than 320 (translate, Zen 3). Parts
/// do not depend on the number of threads, so that it changes nothing.
constexpr std::int64_t kRowsOfAPart = 80;
/// The GPU takes all of it at once: a step costs its launches, whatever the rows.
constexpr std::int64_t kRowsOnGpu = 4096;
/// The likeliest words of a row that are fetched beyond those needed: some may be forbidden.
constexpr std::int64_t kSpare = 8;
constexpr double kNever = -std::numeric_limits<double>::infinity();

std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

/// Calls run(i) for all i below count on so many threads, and throws what the first threw.
template <class Run>
void in_parallel(std::size_t count, int threads, const Run& run) {
  std::vector<std::exception_ptr> failures(count);
  ThreadPool::shared().parallel_for(static_cast<int>(count), threads, [&](int i) {
    try {
      run(i);
    } catch (...) {
      failures[at(i)] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

void check(const SearchOptions& options) {
  if (options.beam < 1) fail(kWhere, "beam ", options.beam, "; 1 and more are accepted");
  if (options.best < 1 || options.best > options.beam)
    fail(kWhere, "best ", options.best, "; 1 to the beam, ", options.beam, ", are accepted");
  if (options.max_length < 1)
    fail(kWhere, "max_length ", options.max_length, "; 1 and more are accepted");
  if (options.no_repeat < 0)
    fail(kWhere, "no_repeat ", options.no_repeat, "; 0 and more are accepted");
  if (!std::isfinite(options.length_penalty) || options.length_penalty < 0.0)
    fail(kWhere, "length_penalty ", options.length_penalty, "; 0 and more are accepted");
  if (!std::isfinite(options.temperature) || options.temperature < 0.0)
    fail(kWhere, "temperature ", options.temperature, "; 0 and more are accepted");
  if (options.temperature > 0.0 && options.beam != 1)
    fail(kWhere, "temperature ", options.temperature, " with a beam of ", options.beam,
         "; drawing accepts a beam of 1");
  if (options.top < 0) fail(kWhere, "top ", options.top, "; 0 and more are accepted");
}

/// One source under way.
struct Source {
  std::int64_t index;                     ///< in its part of the batch
  std::vector<double> log_probabilities;  ///< of its rows; kNever: a row without a hypothesis
  std::vector<Hypothesis> finished;
  std::size_t decided = 0;  ///< so many of the first answers stand, whatever else is found
};

/// What a source does after a step: rows that go on, and hypotheses that end.
struct Turn {
  std::vector<Candidate> on;     ///< at most the beam
  std::vector<Candidate> ended;  ///< met kEos
  bool decided = false;          ///< false: what it was to choose from did not do
};

/// What may come next, on the CPU: of each row the likeliest, or where those do not do, all.
struct Next {
  std::int64_t vocabulary;
  Tensor likeliest{};      ///< as top() gives them
  std::span<float> all{};  ///< [rows, vocabulary]

  std::span<float> row(std::int64_t i) const {
    return all.subspan(at(i * vocabulary), at(vocabulary));
  }
};

class Search {
 public:
  /// `first` is the place of the first source in the whole batch.
  Search(const Seq2Seq& model, const Tensor& source, const Tensor& lengths,
         const SearchOptions& options, std::int64_t first)
      : options_(options),
        decoding_(model.decode(source, lengths)),
        first_(first),
        answers_(at(source.size(0))) {
    if (!options.steering.as_trained()) {
      options.steering.validate(source.size(1));
      decoding_->steer(options.steering);
    }
    if (!options.weights) decoding_->leave_out_weights();
    for (std::int64_t i = 0; i < source.size(0); ++i) sources_.push_back({i, {0.0}, {}});
    history_.begin_step(std::vector<std::int64_t>(answers_.size(), kBos), {});
    tokens_.assign(answers_.size(), kBos);
  }

  std::vector<std::vector<Hypothesis>> run() {
    for (std::int64_t said = 0; !sources_.empty(); ++said) step(said);
    return std::move(answers_);
  }

 private:
  void step(std::int64_t said);
  void forbid(const Source& source, std::int64_t row, std::span<float> next) const;
  bool offer(const Source& source, const Candidate& so_far, const Next& next,
             Candidates& candidates) const;
  Turn turn_of(const Source& source, std::int64_t first_row, std::int64_t said,
               const Next& next) const;
  void end(Source& source, const Turn& turn, std::int64_t said);
  bool is_done(Source& source, const Turn& turn, std::int64_t said) const;
  void finish(Source& source, const Turn& turn, std::int64_t first_row);
  void go_on(Source& source, const Turn& turn, std::int64_t first_row);
  Hypothesis hypothesis_at(std::int64_t row, double log_probability, std::int64_t said,
                           bool finished) const;
  double penalty(std::int64_t tokens) const {
    return std::pow((5.0 + static_cast<double>(tokens)) / 6.0, options_.length_penalty);
  }
  std::size_t wanted() const {  ///< answers of a source; a consensus asks as many as it can
    return at(options_.choice == Choice::consensus ? options_.beam : options_.best);
  }
  std::int64_t width() const {  ///< rows of a source
    return static_cast<std::int64_t>(sources_.front().log_probabilities.size());
  }

  const SearchOptions& options_;
  std::unique_ptr<Decoding> decoding_;
  std::int64_t first_;
  std::vector<std::vector<Hypothesis>> answers_;
  std::vector<Source> sources_;        ///< those not done, each with width() rows, in order
  std::vector<std::int64_t> tokens_;   ///< that the next step reads, one a row
  std::vector<std::int64_t> parents_;  ///< their rows in the step before
  History history_;
};

/// Makes unlikely beyond choice what would say `no_repeat` tokens in a row a second time, and
/// what the caller forbids. kEos never repeats: no hypothesis has said it.
void Search::forbid(const Source& source, std::int64_t row, std::span<float> next) const {
  if (options_.no_repeat == 0 && !options_.forbid) return;
  const std::vector<std::int64_t> said = history_.tokens(row);
  const auto before = static_cast<std::ptrdiff_t>(options_.no_repeat - 1);
  if (options_.no_repeat > 0 && std::ssize(said) >= before) {
    const auto last = said.end() - before;
    for (auto from = said.begin(); from < last; ++from)
      if (std::equal(last, said.end(), from))
        next[at(from[before])] = -std::numeric_limits<float>::infinity();
  }
  if (options_.forbid) options_.forbid(first_ + source.index, said, next);
}

/// The ways on of a row; false if too few of its likeliest are not forbidden.
bool Search::offer(const Source& source, const Candidate& so_far, const Next& next,
                   Candidates& candidates) const {
  if (!next.all.empty()) {
    forbid(source, so_far.row, next.row(so_far.row));
    candidates.offer(so_far.row, so_far.log_probability, next.row(so_far.row));
    return true;
  }
  std::vector<float> open(at(next.vocabulary), 0.0f);
  forbid(source, so_far.row, open);
  const std::int64_t count = next.likeliest.size(2);
  const double* values = next.likeliest.data<double>() + so_far.row * count;
  const double* tokens = values + next.likeliest.numel() / 2;
  std::vector<Candidate> likeliest;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto token = static_cast<std::int64_t>(tokens[i]);
    if (token >= kEos && open[at(token)] == 0.0f)
      likeliest.push_back({so_far.log_probability + values[i], so_far.row, token});
  }
  if (std::ssize(likeliest) < 2 * options_.beam) return false;
  // Equals are taken in index order.
  std::sort(likeliest.begin(), likeliest.end(),
            [](const Candidate& a, const Candidate& b) { return a.token < b.token; });
  for (const Candidate& each : likeliest) candidates.offer(each);
  return true;
}

Turn Search::turn_of(const Source& source, std::int64_t first_row, std::int64_t said,
                     const Next& next) const {
  std::vector<Candidate> ranked;
  if (options_.temperature > 0.0) {
    const Draw draw{options_.temperature, options_.top, options_.seed, first_ + source.index,
                    said};
    forbid(source, first_row, next.row(first_row));
    const std::int64_t token = drawn(next.row(first_row), draw);
    const double log_probability = next.row(first_row)[at(token)];
    ranked.push_back({source.log_probabilities[0] + log_probability, first_row, token});
  } else {
    // At most a beam of these is kEos, so a beam of others is among them.
    Candidates candidates(2 * options_.beam);
    for (std::size_t i = 0; i < source.log_probabilities.size(); ++i) {
      const std::int64_t row = first_row + static_cast<std::int64_t>(i);
      if (source.log_probabilities[i] != kNever &&
          !offer(source, {source.log_probabilities[i], row, kEos}, next, candidates))
        return {};
    }
    ranked = candidates.best();
  }
  Turn turn;
  turn.decided = true;
  for (std::size_t rank = 0; rank < ranked.size(); ++rank) {
    if (ranked[rank].token != kEos) {
      if (turn.on.size() < at(options_.beam)) turn.on.push_back(ranked[rank]);
    } else if (rank < at(options_.beam)) {
      turn.ended.push_back(ranked[rank]);
    }
  }
  return turn;
}

Hypothesis Search::hypothesis_at(std::int64_t row, double log_probability, std::int64_t said,
                                 bool finished) const {
  Hypothesis hypothesis = history_.trace(row);
  hypothesis.log_probability = log_probability;
  hypothesis.score = log_probability / penalty(said);
  hypothesis.finished = finished;
  return hypothesis;
}

void Search::end(Source& source, const Turn& turn, std::int64_t said) {
  const auto better = [](const Hypothesis& a, const Hypothesis& b) {
    return a.score > b.score;
  };
  std::vector<Hypothesis>& all = source.finished;
  for (const Candidate& candidate : turn.ended) {
    Hypothesis hypothesis = hypothesis_at(candidate.row, candidate.log_probability, said, true);
    if (options_.fault)
      hypothesis.score -= options_.fault(first_ + source.index, hypothesis.tokens);
    const auto open = all.begin() + static_cast<std::ptrdiff_t>(source.decided);
    all.insert(std::upper_bound(open, all.end(), hypothesis, better), std::move(hypothesis));
  }
}

/// Decides one answer after another, so that who asks for more of them gets the same first
/// ones.
bool Search::is_done(Source& source, const Turn& turn, std::int64_t said) const {
  if (said == options_.max_length || turn.on.empty()) return true;
  // Log-probabilities only fall, so this is the most that what goes on can come to. Once as
  // many have ended as are followed, what goes on must be better as it stands: what began with
  // an early end would else cut off likelier answers that are longer.
  const bool enough = source.finished.size() >= at(options_.beam);
  const double most =
      turn.on.front().log_probability / penalty(enough ? said + 1 : options_.max_length);
  const auto stands = [&](std::size_t rank) {
    return rank < source.finished.size() && source.finished[rank].score >= most;
  };
  // A consensus is of all, however many are asked for.
  if (options_.choice == Choice::consensus) return stands(wanted() - 1);
  while (source.decided < wanted() && stands(source.decided)) ++source.decided;
  return source.decided == wanted();
}

/// The answers of a source that is done. Too few of them are made up for by hypotheses that
/// max_length cut off.
void Search::finish(Source& source, const Turn& turn, std::int64_t first_row) {
  std::vector<Hypothesis>& answers = source.finished;
  const auto has_ended = [&](std::int64_t row) {
    return std::any_of(turn.ended.begin(), turn.ended.end(),
                       [row](const Candidate& ended) { return ended.row == row; });
  };
  // Rows are in the order of their probabilities.
  for (std::size_t i = 0; i < source.log_probabilities.size(); ++i) {
    const std::int64_t row = first_row + static_cast<std::int64_t>(i);
    const double log_probability = source.log_probabilities[i];
    if (answers.size() >= wanted() || log_probability == kNever) break;
    if (!has_ended(row))
      answers.push_back(hypothesis_at(row, log_probability, options_.max_length, false));
  }
  if (answers.size() > wanted()) answers.resize(wanted());
  if (options_.choice == Choice::consensus) order_by_consensus(answers, options_);
  if (answers.size() > at(options_.best)) answers.resize(at(options_.best));
  answers_[at(source.index)] = std::move(answers);
}

void Search::go_on(Source& source, const Turn& turn, std::int64_t first_row) {
  source.log_probabilities.clear();
  for (const Candidate& next : turn.on) {
    source.log_probabilities.push_back(next.log_probability);
    parents_.push_back(next.row);
    tokens_.push_back(next.token);
  }
  // A vocabulary may have fewer words than the beam has rows.
  for (std::size_t row = turn.on.size(); row < at(options_.beam); ++row) {
    source.log_probabilities.push_back(kNever);
    parents_.push_back(first_row);
    tokens_.push_back(kEos);
  }
}

/// `said` tokens of each hypothesis have been read, kBos besides.
void Search::step(std::int64_t said) {
  const auto rows = static_cast<std::int64_t>(tokens_.size());
  const Prediction made = decoding_->step(Tensor::from(tokens_, {rows}));
  const Tensor log_probs = made.log_probabilities.to(DType::f32);
  std::vector<Turn> turns(sources_.size());
  const std::int64_t each = width();
  const auto take_turns = [&](const Next& next) {
    in_parallel(turns.size(), ThreadPool::default_threads(), [&](int i) {
      if (!turns[at(i)].decided) turns[at(i)] = turn_of(sources_[at(i)], i * each, said, next);
    });
  };
  // A vocabulary of each row comes from the GPU only where its likeliest words do not do.
  if (log_probs.device() == Device::gpu && options_.temperature == 0.0)
    take_turns({log_probs.size(1), top(log_probs, 2 * options_.beam + kSpare).to(Device::cpu)});
  if (!std::all_of(turns.begin(), turns.end(), [](const Turn& turn) { return turn.decided; })) {
    const Tensor all = on_cpu(log_probs);
    take_turns(
        {.vocabulary = log_probs.size(1), .all = {all.mutable_data<float>(), at(all.numel())}});
  }
  history_.end_step(made.weights);

  std::vector<Source> rest;
  tokens_.clear();
  parents_.clear();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const std::int64_t first_row = static_cast<std::int64_t>(i) * each;
    const Turn& turn = turns[i];
    end(sources_[i], turn, said);
    if (is_done(sources_[i], turn, said)) {
      finish(sources_[i], turn, first_row);
    } else {
      go_on(sources_[i], turn, first_row);
      rest.push_back(std::move(sources_[i]));
    }
  }
  sources_ = std::move(rest);
  if (sources_.empty()) return;
  std::vector<std::int64_t> as_they_are(at(rows));
  std::iota(as_they_are.begin(), as_they_are.end(), 0);
  if (parents_ != as_they_are)
    decoding_->select(Tensor::from(parents_, {static_cast<std::int64_t>(parents_.size())}));
  history_.begin_step(tokens_, parents_);
}

}  // namespace

std::vector<std::vector<Hypothesis>> search(const Seq2Seq& model, const Tensor& source,
                                            const Tensor& lengths,
                                            const SearchOptions& options) {
  check(options);
  const bool fits = source.defined() && lengths.defined() && source.rank() == 2 &&
                    lengths.shape() == Shape{source.size(0)};
  // The model says what is wrong.
  if (!fits) return Search(model, source, lengths, options, 0).run();
  const std::int64_t sources = source.size(0);
  const bool on_gpu = model.device() == Device::gpu;
  const std::int64_t rows = on_gpu ? kRowsOnGpu : kRowsOfAPart;
  const std::int64_t most = std::max<std::int64_t>(1, rows / options.beam);
  const std::int64_t parts = std::max<std::int64_t>(1, (sources + most - 1) / most);
  std::vector<std::vector<Hypothesis>> all(at(sources));
  in_parallel(at(parts), on_gpu ? 1 : ThreadPool::default_threads(), [&](int task) {
    // Callers sort by length: the long ones come first, so that threads end together.
    const std::int64_t part = parts - 1 - task;
    const std::int64_t begin = sources * part / parts;
    const std::int64_t end = sources * (part + 1) / parts;
    auto answers =
        Search(model, source.slice(0, begin, end), lengths.slice(0, begin, end), options, begin)
            .run();
    std::move(answers.begin(), answers.end(), all.begin() + begin);
  });
  return all;
}

}  // namespace attn::models
