#include "tasks/entail/matchers.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/applied/entailment_word_by_word.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/nn/mechanisms/score/products.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::entail {
namespace {

/// Each side's words beside what they found on the other side, and how the two differ.
Tensor beside(const Tensor& words, const Tensor& match) {
  return concat({words, match, words - match, words * match}, -1);
}

Tensor mean_and_maximum(const Tensor& words, const Tensor& lengths) {
  return concat(
      {nn::average_pooling(words, lengths).output, nn::max_pooling(words, lengths).values}, -1);
}

/// u = BiGRU(x); e_ij = u_i . v_j, each side reads the other; m = relu(W [u; u~; u - u~; u
/// u~]); BiGRU(m), its mean and its maximum.
class BothWays final : public Matcher {
 public:
  explicit BothWays(const MatcherOptions& options)
      : hidden_(options.hidden),
        read_(add("read", nn::Gru({.in = options.in,
                                   .hidden = options.hidden,
                                   .direction = Direction::both}))),
        alike_(add("alike", Tensor::full({1}, kAlike))),
        compare_(add("compare", nn::Linear({.in = 8 * options.hidden, .out = options.hidden}))),
        compose_(add("compose", nn::Gru({.in = options.hidden,
                                         .hidden = options.hidden,
                                         .direction = Direction::both}))),
        dropout_(add("dropout", nn::Dropout(options.dropout))) {}

  Match forward(const Side& premise, const Side& hypothesis, const Want& want) const override {
    const Tensor left = dropout_(read_(premise.words, {}, premise.lengths).out);
    const Tensor right = dropout_(read_(hypothesis.words, {}, hypothesis.lengths).out);
    const Tensor left_key = concat({left, premise.words * alike_}, -1);
    const Tensor right_key = concat({right, hypothesis.words * alike_}, -1);
    const Tensor read =
        nn::dot_attention(left_key, right_key, right, spec::lengths(hypothesis.lengths)).output;
    const Attended back =
        nn::dot_attention(right_key, left_key, left, spec::lengths(premise.lengths), want);
    return {concat({composed(beside(left, read), premise.lengths),
                    composed(beside(right, back.output), hypothesis.lengths)},
                   -1),
            back.weights};
  }
  std::int64_t size() const override { return 8 * hidden_; }

 private:
  Tensor composed(const Tensor& pairs, const Tensor& lengths) const {
    const Tensor words = dropout_(relu(compare_(pairs)));
    return mean_and_maximum(compose_(words, {}, lengths).out, lengths);
  }

  static constexpr double kAlike = 0.7;

  std::int64_t hidden_;
  nn::Gru read_;
  Tensor alike_;  ///< s, [1]
  nn::Linear compare_;
  nn::Gru compose_;
  nn::Dropout dropout_;
};

/// An LSTM reads the premise, another one goes on with its state over the hypothesis, whose
/// words look at the premise one after the other.
class WordByWord final : public Matcher {
 public:
  explicit WordByWord(const MatcherOptions& options)
      : hidden_(options.hidden),
        premise_(add("premise", nn::Lstm({.in = options.in, .hidden = options.hidden}))),
        hypothesis_(add("hypothesis", nn::Lstm({.in = options.in, .hidden = options.hidden}))),
        attention_(add("attention", nn::WordByWordAttention(options.hidden))),
        dropout_(add("dropout", nn::Dropout(options.dropout))) {}

  Match forward(const Side& premise, const Side& hypothesis, const Want&) const override {
    const LstmResult before = premise_(premise.words, {}, {}, premise.lengths);
    const Tensor after =
        hypothesis_(hypothesis.words, before.state, before.cell, hypothesis.lengths).out;
    const nn::Entailed match = attention_.forward(dropout_(before.out), dropout_(after),
                                                  premise.lengths, hypothesis.lengths);
    return {match.h_star, match.weights};
  }
  std::int64_t size() const override { return hidden_; }

 private:
  std::int64_t hidden_;
  nn::Lstm premise_;
  nn::Lstm hypothesis_;
  nn::WordByWordAttention attention_;
  nn::Dropout dropout_;
};

/// Two layers with a relu behind each.
class Perceptron final : public nn::Module {
 public:
  Perceptron(std::int64_t in, std::int64_t out, double dropout)
      : first_(add("first", nn::Linear({.in = in, .out = out}))),
        second_(add("second", nn::Linear({.in = out, .out = out}))),
        dropout_(add("dropout", nn::Dropout(dropout))) {}

  Tensor operator()(const Tensor& x) const {
    return relu(second_(dropout_(relu(first_(dropout_(x))))));
  }

 private:
  nn::Linear first_;
  nn::Linear second_;
  nn::Dropout dropout_;
};

/// No order but in the attention inside a sentence, whose scores know the distance:
/// x = [a; sum_j softmax_j(f(a_i) . f(a_j) + d_{j-i}) a_j]. Then e_ij = F(x_i) . F(y_j), and
/// the sums over both sides of G([x_i; x~_i]).
class Decomposable final : public Matcher {
 public:
  explicit Decomposable(const MatcherOptions& options)
      : hidden_(options.hidden),
        project_(add("project", nn::without_bias(options.in, options.hidden))),
        inside_(add("inside", Perceptron(options.hidden, options.hidden, options.dropout))),
        distances_(add("distances", Tensor::zeros({2 * kReach + 1}))),
        attend_(add("attend", Perceptron(2 * options.hidden, options.hidden, options.dropout))),
        compare_(
            add("compare", Perceptron(4 * options.hidden, options.hidden, options.dropout))) {}

  Match forward(const Side& premise, const Side& hypothesis, const Want& want) const override {
    const Tensor left = with_context(premise);
    const Tensor right = with_context(hypothesis);
    const Tensor left_key = attend_(left);
    const Tensor right_key = attend_(right);
    const Tensor read =
        nn::dot_attention(left_key, right_key, right, spec::lengths(hypothesis.lengths)).output;
    const Attended back =
        nn::dot_attention(right_key, left_key, left, spec::lengths(premise.lengths), want);
    return {concat({total(left, read, premise.lengths),
                    total(right, back.output, hypothesis.lengths)},
                   -1),
            back.weights};
  }
  std::int64_t size() const override { return 2 * hidden_; }

 private:
  static constexpr std::int64_t kReach = 10;

  Tensor with_context(const Side& side) const {
    const Tensor words = project_(side.words);
    const Tensor keys = inside_(words);
    const Tensor context =
        attend(keys, keys, words, spec::dot() | spec::relative_table(distances_, 0),
               spec::lengths(side.lengths))
            .output;
    return concat({words, context}, -1);
  }
  Tensor total(const Tensor& words, const Tensor& match, const Tensor& lengths) const {
    const Tensor pairs = compare_(concat({words, match}, -1));
    return sum(keep_where(pairs, length_mask(lengths, pairs.size(1)).unsqueeze(2)), 1);
  }

  std::int64_t hidden_;
  nn::Linear project_;
  Perceptron inside_;
  Tensor distances_;  ///< d, by distance
  Perceptron attend_;
  Perceptron compare_;
};

/// What can be told without the premise: how much the data give away.
class HypothesisAlone final : public Matcher {
 public:
  explicit HypothesisAlone(const MatcherOptions& options)
      : hidden_(options.hidden),
        read_(add("read", nn::Gru({.in = options.in,
                                   .hidden = options.hidden,
                                   .direction = Direction::both}))) {}

  Match forward(const Side&, const Side& hypothesis, const Want&) const override {
    const Tensor words = read_(hypothesis.words, {}, hypothesis.lengths).out;
    return {mean_and_maximum(words, hypothesis.lengths), {}};
  }
  std::int64_t size() const override { return 4 * hidden_; }

 private:
  std::int64_t hidden_;
  nn::Gru read_;
};

}  // namespace

const std::vector<std::string>& matchings() {
  static const std::vector<std::string> kNames{"both-ways", "word-by-word", "decomposable",
                                               "none"};
  return kNames;
}

std::unique_ptr<Matcher> matcher_named(const std::string& name, const MatcherOptions& options) {
  if (name == "both-ways") return std::make_unique<BothWays>(options);
  if (name == "word-by-word") return std::make_unique<WordByWord>(options);
  if (name == "decomposable") return std::make_unique<Decomposable>(options);
  if (name == "none") return std::make_unique<HypothesisAlone>(options);
  fail("attn::tasks::entail::matcher_named: there is no matching ", files::in_quotes(name));
}

}  // namespace attn::tasks::entail
