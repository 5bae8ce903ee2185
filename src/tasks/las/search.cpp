// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/las/listener.hpp"

namespace attn::tasks::las {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  const double most = std::max(a, b);
  if (most == kNever) return kNever;
  return most + std::log1p(std::exp(std::min(a, b) - most));
}

struct Hypothesis {
  Tokens tokens;
  PrefixScorer::Prefix prefix;
  double spelt = 0.0;  ///< log-probability of the speller
  double score = 0.0;
  std::vector<float> weights;  ///< of the tokens so far
};

struct Candidate {
  std::size_t parent;
  std::int64_t token;
  double spelt;
};

/// The state of a search: hypotheses and, row by row, what the speller knows of them.
class Beam {
 public:
  Beam(const Speller* speller, const Tensor& heard, const PrefixScorer& scorer,
       const SearchHow& how, std::int64_t classes)
      : speller_(how.ctc < 1.0 ? speller : nullptr),
        scorer_(scorer),
        how_(how),
        classes_(classes),
        frames_(heard.size(1)) {
    hypotheses_.push_back({{}, scorer.empty(), 0.0, 0.0, {}});
    if (speller_ == nullptr) return;
    memory_ = speller_->memory(heard, {});
    state_ = speller_->begin(memory_);
  }

  std::vector<Spelt> run(std::size_t count) {
    // A path of CTC writes at most one token a frame.
    for (std::int64_t step = 0; step <= frames_ && !hypotheses_.empty(); ++step) {
      spell();
      end_some();
      if (is_settled(count)) break;
      grow();
    }
    for (const Hypothesis& rest : hypotheses_)
      if (ended_.empty()) ended_.push_back({rest.tokens, rest.score, rest.weights, false});
    std::stable_sort(ended_.begin(), ended_.end(),
                     [](const Spelt& a, const Spelt& b) { return a.score > b.score; });
    if (ended_.size() > count) ended_.resize(count);
    return std::move(ended_);
  }

 private:
  /// A step of the speller for all hypotheses.
  void spell() {
    if (speller_ == nullptr) return;
    std::vector<std::int64_t> last;
    last.reserve(hypotheses_.size());
    for (const Hypothesis& one : hypotheses_)
      last.push_back(one.tokens.empty() ? kBegin : one.tokens.back());
    const auto rows = static_cast<std::int64_t>(last.size());
    state_ = speller_->step(memory_.repeated(rows), state_, Tensor::from(last, {rows}));
    log_probs_ = log_softmax(speller_->logits(state_)).to(DType::f32).to_vector<float>();
    looked_ = state_.weights.to(DType::f32).to_vector<float>();
  }

  double spelt(std::size_t row, std::int64_t token) const {
    if (speller_ == nullptr) return 0.0;
    return static_cast<double>(
        log_probs_[row * static_cast<std::size_t>(classes_) + static_cast<std::size_t>(token)]);
  }

  /// Behind those that a hypothesis has, the weights of this step.
  std::vector<float> weights_of(std::size_t row) const {
    std::vector<float> weights = hypotheses_[row].weights;
    if (speller_ == nullptr) return weights;
    const auto begin = looked_.begin() + static_cast<std::ptrdiff_t>(row) * frames_;
    weights.insert(weights.end(), begin, begin + frames_);
    return weights;
  }

  double joint(double spelt, double alignments) const {
    if (how_.ctc <= 0.0) return spelt;
    return (1.0 - how_.ctc) * spelt + how_.ctc * alignments;
  }

  void end_some() {
    for (std::size_t row = 0; row < hypotheses_.size(); ++row) {
      const Hypothesis& one = hypotheses_[row];
      const double whole = how_.ctc > 0.0 ? scorer_.whole(one.prefix) : 0.0;
      const double score = joint(one.spelt + spelt(row, how_.end), whole);
      if (score > kNever) ended_.push_back({one.tokens, score, weights_of(row), true});
    }
  }

  /// Scores fall from step to step, so what ended above all that goes on stays there.
  bool is_settled(std::size_t count) const {
    double best = kNever;
    for (const Hypothesis& one : hypotheses_) best = std::max(best, one.score);
    const auto above = std::count_if(ended_.begin(), ended_.end(),
                                     [&](const Spelt& one) { return one.score >= best; });
    return above >= static_cast<std::ptrdiff_t>(count);
  }

  /// What may follow; where the speller tells, only what it thinks likely is aligned.
  std::vector<Candidate> candidates() const {
    std::vector<Candidate> all;
    for (std::size_t row = 0; row < hypotheses_.size(); ++row) {
      std::vector<Candidate> some;
      for (std::int64_t token = how_.first; token < classes_; ++token)
        some.push_back({row, token, hypotheses_[row].spelt + spelt(row, token)});
      const auto most = static_cast<std::size_t>(2 * how_.beam);
      if (speller_ != nullptr && some.size() > most) {
        std::partial_sort(
            some.begin(), some.begin() + static_cast<std::ptrdiff_t>(most), some.end(),
            [](const Candidate& a, const Candidate& b) { return a.spelt > b.spelt; });
        some.resize(most);
      }
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }

  void grow() {
    std::vector<Hypothesis> next;
    std::vector<std::size_t> parents;
    for (const Candidate& one : candidates()) {
      const Hypothesis& parent = hypotheses_[one.parent];
      Hypothesis longer{parent.tokens, parent.prefix, one.spelt, one.spelt, {}};
      if (how_.ctc > 0.0) longer.prefix = scorer_.extended(parent.prefix, one.token);
      longer.score = joint(one.spelt, longer.prefix.score);
      if (longer.score == kNever) continue;
      longer.tokens.push_back(one.token);
      next.push_back(std::move(longer));
      parents.push_back(one.parent);
    }
    std::vector<std::size_t> order(next.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return next[a].score > next[b].score;
    });
    order.resize(std::min(order.size(), static_cast<std::size_t>(how_.beam)));
    std::vector<Hypothesis> chosen;
    std::vector<std::int64_t> rows;
    for (const std::size_t i : order) {
      next[i].weights = weights_of(parents[i]);
      chosen.push_back(std::move(next[i]));
      rows.push_back(static_cast<std::int64_t>(parents[i]));
    }
    hypotheses_ = std::move(chosen);
    if (speller_ != nullptr && !rows.empty())
      state_ = state_.selected(Tensor::from(rows, {static_cast<std::int64_t>(rows.size())}));
  }

  static constexpr std::int64_t kBegin = 1;  // text::Mark::bos

  const Speller* speller_;
  const PrefixScorer& scorer_;
  const SearchHow& how_;
  std::int64_t classes_;
  std::int64_t frames_;
  Speller::Memory memory_;
  Speller::State state_;
  std::vector<float> log_probs_;  ///< [hypotheses, classes]
  std::vector<float> looked_;     ///< [hypotheses, frames]
  std::vector<Hypothesis> hypotheses_;
  std::vector<Spelt> ended_;
};

}  // namespace

PrefixScorer::PrefixScorer(std::vector<double> log_probs, std::int64_t frames,
                           std::int64_t blank)
    : log_probs_(std::move(log_probs)),
      frames_(frames),
      classes_(frames == 0 ? 0 : static_cast<std::int64_t>(log_probs_.size()) / frames),
      blank_(blank) {}

double PrefixScorer::at(std::int64_t frame, std::int64_t token) const {
  return log_probs_[static_cast<std::size_t>(frame * classes_ + token)];
}

PrefixScorer::Prefix PrefixScorer::empty() const {
  Prefix none;
  none.spoken.assign(static_cast<std::size_t>(frames_), kNever);
  double sum = 0.0;
  for (std::int64_t t = 0; t < frames_; ++t) none.silent.push_back(sum += at(t, blank_));
  return none;
}

PrefixScorer::Prefix PrefixScorer::extended(const Prefix& prefix, std::int64_t token) const {
  Prefix longer;
  longer.count = prefix.count + 1;
  longer.last = token;
  longer.spoken.assign(static_cast<std::size_t>(frames_), kNever);
  longer.silent.assign(static_cast<std::size_t>(frames_), kNever);
  longer.score = kNever;
  // So many tokens need as many frames.
  for (std::int64_t t = prefix.count; t < frames_; ++t) {
    const auto now = static_cast<std::size_t>(t);
    // What ends before this frame: an equal token begins anew behind a blank alone.
    double before = kNever;
    if (t == 0)
      before = 0.0;
    else
      before = token == prefix.last ? prefix.silent[now - 1]
                                    : log_sum(prefix.silent[now - 1], prefix.spoken[now - 1]);
    const double starts = before + at(t, token);
    longer.score = log_sum(longer.score, starts);
    const double goes_on = t == 0 ? kNever : longer.spoken[now - 1] + at(t, token);
    longer.spoken[now] = log_sum(starts, goes_on);
    if (t > 0)
      longer.silent[now] =
          log_sum(longer.spoken[now - 1], longer.silent[now - 1]) + at(t, blank_);
  }
  return longer;
}

double PrefixScorer::whole(const Prefix& prefix) const {
  if (frames_ == 0) return prefix.count == 0 ? 0.0 : kNever;
  return log_sum(prefix.spoken.back(), prefix.silent.back());
}

std::vector<Spelt> search(const Speller* speller, const Tensor& heard,
                          const PrefixScorer& scorer, const SearchHow& how,
                          std::int64_t classes, std::size_t count) {
  return Beam(speller, heard, scorer, how, classes).run(std::max<std::size_t>(1, count));
}

}  // namespace attn::tasks::las
