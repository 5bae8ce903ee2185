#include "tasks/answer/lookers.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/pooling/plain_pooling.hpp"
#include "attn/nn/mechanisms/vision/box_attention.hpp"
#include "attn/nn/mechanisms/vision/co_attention_alternating.hpp"
#include "attn/nn/mechanisms/vision/co_attention_parallel.hpp"
#include "attn/nn/mechanisms/vision/hierarchical_answer.hpp"
#include "attn/nn/mechanisms/vision/question_hierarchy.hpp"
#include "attn/nn/mechanisms/vision/spatial_attention.hpp"
#include "attn/nn/mechanisms/vision/text_score.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks::vqa {
namespace {

nn::QuestionHierarchyOptions hierarchy_of(const LookerOptions& options) {
  return {.word_dim = options.channels,
          .phrase_dim = options.channels,
          .hidden_dim = options.channels};
}

/// What both kinds of co-attention share; Pair is the mechanism, met on each level.
template <class Pair>
class CoLooker final : public Looker {
 public:
  template <class PairOptions>
  CoLooker(const LookerOptions& options, const PairOptions& pair)
      : hierarchy_(add("hierarchy", nn::QuestionHierarchy(hierarchy_of(options)))),
        words_(add("words", Pair(pair))),
        phrases_(add("phrases", Pair(pair))),
        question_(add("question", Pair(pair))),
        answer_(add("answer", nn::HierarchicalAnswer({.dim = options.channels,
                                                      .word_hidden = options.hidden,
                                                      .phrase_hidden = options.hidden,
                                                      .question_hidden = options.hidden,
                                                      .answers = options.answers}))) {}

  Answered forward(const Scene& scene, bool) const override {
    const nn::QuestionLevels levels = hierarchy_.forward(scene.words, scene.lengths);
    Answered answered;
    const auto meet = [&](const Pair& pair, const Tensor& question, const char* level) {
      const auto look = pair.forward(
          {.image = scene.places, .question = question, .question_lens = scene.lengths});
      answered.looks.push_back({level, look.image_weights, look.question_weights});
      return nn::AnswerLevel{look.question_vector, look.image_vector};
    };
    const nn::AnswerLevel words = meet(words_, scene.words, "words");
    const nn::AnswerLevel phrases = meet(phrases_, levels.phrase, "phrases");
    const nn::AnswerLevel question = meet(question_, levels.question, "question");
    answered.logits = answer_.forward(words, phrases, question);
    return answered;
  }

 private:
  nn::QuestionHierarchy hierarchy_;
  Pair words_;
  Pair phrases_;
  Pair question_;
  nn::HierarchicalAnswer answer_;
};

/// The question as one vector, what it saw as another, and an answer from both and their
/// product: what every looker but those of co-attention has.
class PlainLooker : public Looker {
 public:
  PlainLooker(const LookerOptions& options, std::int64_t hops)
      : hierarchy_(add("hierarchy", nn::QuestionHierarchy(hierarchy_of(options)))),
        first_(add("first", nn::Linear({.in = 3 * options.channels, .out = options.hidden}))),
        second_(add("second", nn::Linear({.in = options.hidden, .out = options.answers}))),
        hops_(static_cast<std::size_t>(hops)) {}

  Answered forward(const Scene& scene, bool looks) const override {
    const Tensor states = hierarchy_.forward(scene.words, scene.lengths).question;
    const std::int64_t channels = states.size(2);
    const std::int64_t count = states.size(0);
    const Tensor last = scene.last.reshape({count, 1, 1}).expand({count, 1, channels});
    const Tensor question = gather(states, 1, last.contiguous()).squeeze(1);
    Answered answered;
    Tensor query = question;
    Tensor seen;
    for (std::size_t hop = 0; hop < hops_; ++hop) {
      constexpr const char* kBefore[] = {"first", "second"};
      Look look{
          .level = hop + 1 == hops_ ? "question" : kBefore[hop], .places = {}, .words = {}};
      seen = see(hop, scene, query, looks ? &look : nullptr);
      query = query + seen;
      if (look.places.defined()) answered.looks.push_back(std::move(look));
    }
    const Tensor both = concat({question, seen, query * seen}, 1);
    answered.logits = second_(relu(first_(both)));
    return answered;
  }

 private:
  /// [questions, channels]; fills the look where there is one.
  virtual Tensor see(std::size_t hop, const Scene& scene, const Tensor& query,
                     Look* look) const = 0;

  nn::QuestionHierarchy hierarchy_;
  nn::Linear first_;
  nn::Linear second_;
  std::size_t hops_;
};

/// A mechanism that scores parts of a picture by a text, one for each hop.
template <class Attention>
class Hops : public PlainLooker {
 public:
  explicit Hops(const LookerOptions& options) : PlainLooker(options, options.hops) {
    const nn::TextScoreOptions score{.image_dim = options.channels,
                                     .text_dim = options.channels,
                                     .hidden_dim = options.channels};
    for (std::int64_t hop = 0; hop < options.hops; ++hop)
      attentions_.push_back(add("attention" + std::to_string(hop + 1), Attention(score)));
  }

 protected:
  const Attention& attention(std::size_t hop) const { return attentions_.at(hop); }

 private:
  std::vector<Attention> attentions_;
};

class GridLooker final : public Hops<nn::SpatialAttention> {
 public:
  using Hops::Hops;

 private:
  Tensor see(std::size_t hop, const Scene& scene, const Tensor& query,
             Look* look) const override {
    const auto side = std::llround(std::sqrt(static_cast<double>(scene.places.size(1))));
    const Tensor image = scene.places.transpose(1, 2).reshape(
        {scene.places.size(0), scene.places.size(2), side, side});
    const nn::SpatialLook seen = attention(hop).forward(
        image, query, {}, look != nullptr ? Want::weights : Want::output);
    if (look != nullptr) look->places = seen.weights.flatten(1, 2);
    return seen.context;
  }
};

class BoxLooker final : public Hops<nn::BoxAttention> {
 public:
  using Hops::Hops;

 private:
  Tensor see(std::size_t hop, const Scene& scene, const Tensor& query,
             Look* look) const override {
    const nn::BoxLook seen = attention(hop).forward(
        scene.regions, scene.offsets, query, look != nullptr ? Want::weights : Want::output);
    if (look != nullptr) look->places = seen.weights;
    return seen.context;
  }
};

class MeanLooker final : public PlainLooker {
 public:
  explicit MeanLooker(const LookerOptions& options) : PlainLooker(options, 1) {}

 private:
  Tensor see(std::size_t, const Scene& scene, const Tensor&, Look*) const override {
    return nn::average_pooling(scene.places).output;
  }
};

class BlindLooker final : public PlainLooker {
 public:
  explicit BlindLooker(const LookerOptions& options) : PlainLooker(options, 1) {}

 private:
  Tensor see(std::size_t, const Scene&, const Tensor& query, Look*) const override {
    return Tensor::zeros(query.shape(), query.dtype(), query.device());
  }
};

}  // namespace

const std::vector<std::string>& attentions() {
  static const std::vector<std::string> kNames{"parallel", "alternating", "grid",
                                               "boxes",    "mean",        "none"};
  return kNames;
}

std::shared_ptr<Looker> looker_named(const std::string& attention,
                                     const LookerOptions& options) {
  if (attention == "parallel")
    return std::make_shared<CoLooker<nn::ParallelCoAttention>>(
        options, nn::CoAttentionOptions{.image_dim = options.channels,
                                        .question_dim = options.channels,
                                        .hidden_dim = options.channels});
  if (attention == "alternating")
    return std::make_shared<CoLooker<nn::AlternatingCoAttention>>(
        options, nn::AlternatingCoAttentionOptions{.image_dim = options.channels,
                                                   .question_dim = options.channels,
                                                   .hidden_dim = options.channels});
  if (attention == "grid") return std::make_shared<GridLooker>(options);
  if (attention == "boxes") return std::make_shared<BoxLooker>(options);
  if (attention == "mean") return std::make_shared<MeanLooker>(options);
  if (attention == "none") return std::make_shared<BlindLooker>(options);
  fail("attn answer: there is no attention ", files::in_quotes(attention));
}

}  // namespace attn::tasks::vqa
