#include "tasks/entail/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/entail/matchers.hpp"
#include "tasks/entail/words.hpp"

namespace attn::tasks::entail {
namespace {

/// Spread of the vectors that words begin with, and of those of their parts.
constexpr double kWordSpread = 0.3;
constexpr double kPartSpread = 0.1;
/// Whether the other side has the word, and whether it has one with the same stem.
constexpr std::int64_t kSharedFeatures = 2;
/// From this share of unknown words on, an answer says so.
constexpr double kManyUnknown = 0.5;
constexpr std::size_t kWordsShown = 5;

struct Pair {
  Sentence premise;
  Sentence hypothesis;
};

/// What both sides hold, on the network's device.
struct Inputs {
  Side premise;
  Side hypothesis;
};

const std::string& part(const Input& input, const char* name) {
  static const std::string kNone;
  const auto* text = input.find<std::string>(name);
  return text == nullptr ? kNone : *text;
}

std::vector<float> shared_with(const Sentence& sentence, const Sentence& other) {
  const std::unordered_set<std::string> words(other.words.begin(), other.words.end());
  const std::unordered_set<std::int64_t> stems(other.stems.begin(), other.stems.end());
  std::vector<float> shared;
  for (std::size_t i = 0; i < sentence.words.size(); ++i) {
    shared.push_back(words.contains(sentence.words[i]) ? 1.0f : 0.0f);
    const bool stem = sentence.stems[i] != text::unknown && stems.contains(sentence.stems[i]);
    shared.push_back(stem ? 1.0f : 0.0f);
  }
  return shared;
}

std::string note_of(const Sentence& sentence, const char* name) {
  const auto words = static_cast<double>(sentence.words.size());
  if (static_cast<double>(sentence.unknown) < kManyUnknown * words) return "";
  std::string some;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < sentence.words.size() && shown < kWordsShown; ++i)
    if (sentence.ids[i] == text::unknown) {
      some += (shown == 0 ? "" : ", ") + files::printable(sentence.words[i]);
      ++shown;
    }
  return std::to_string(sentence.unknown) + " of the " + std::to_string(sentence.words.size()) +
         " words of the " + name + " are unknown to the model (" + some +
         "); its answer may mean nothing";
}

class EntailNetwork final : public Network {
 public:
  EntailNetwork(const NetworkOptions& options, const Lexicon& lexicon)
      : options_(options),
        tables_(lexicon),
        words_(add("words", first_words(options, lexicon))),
        stems_(add("stems",
                   normal({tables_.stems(), options.dim}, 0.0, kPartSpread, nn::random()))),
        endings_(add("endings",
                     normal({tables_.endings(), options.dim}, 0.0, kPartSpread, nn::random()))),
        matcher_(matcher_named(options.matching, {.in = options.dim + kSharedFeatures,
                                                  .hidden = options.hidden,
                                                  .dropout = options.dropout})),
        hidden_(add("hidden", nn::Linear({.in = matcher_->size(), .out = options.hidden}))),
        output_(add("output", nn::Linear({.in = options.hidden, .out = classes()}))),
        dropout_(add("dropout", nn::Dropout(options.dropout))) {
    add<nn::Module>("matcher", *matcher_);
  }

  std::string kind() const override { return "entailment"; }
  std::string variant() const override { return options_.matching; }

  Learner::Lesson loss(std::span<const Example* const> batch) const override {
    std::vector<Pair> pairs;
    std::vector<std::int64_t> targets;
    for (const Example* example : batch) {
      pairs.push_back(read(example->input()));
      hide_words(pairs.back().premise);
      hide_words(pairs.back().hypothesis);
      targets.push_back(index_of(example->targets.front()));
    }
    const auto count = static_cast<std::int64_t>(targets.size());
    const Tensor logits = classify(matcher_->forward(
        side_of(pairs, &Pair::premise), side_of(pairs, &Pair::hypothesis), Want::output));
    return {cross_entropy(logits, Tensor::from(targets, {count}).to(device())), count};
  }

  std::int64_t cost(const Example& example) const override {
    const Input input = example.input();
    const std::size_t words = std::min(words_of(part(input, kPremise)).size(), kMostWords) +
                              std::min(words_of(part(input, kHypothesis)).size(), kMostWords);
    return static_cast<std::int64_t>(words);
  }

  std::string refusal(const Input& input) const override {
    for (const char* name : {kPremise, kHypothesis}) {
      const auto* text = input.find<std::string>(name);
      if (text == nullptr) return std::string("has no ") + name;
      if (!files::is_utf8(*text))
        return std::string("has a ") + name + " that is not UTF-8; convert it first";
      if (text->find('\0') != std::string::npos)
        return std::string("has a ") + name + " with a NUL in it";
      const Sentence sentence = tables_.read(*text);
      if (sentence.words.empty())
        return std::string("has an empty ") + name + "; a sentence is accepted";
      if (sentence.unknown == sentence.words.size())
        return std::string("has a ") + name +
               " of which the model knows no word: " + files::in_quotes(*text) +
               "; English sentences are accepted";
    }
    return "";
  }

  std::vector<Reply> answer(std::span<const Input> inputs, const Choices&) const override {
    std::vector<Pair> pairs;
    for (const Input& input : inputs) pairs.push_back(read(input));
    // Alike lengths together: padding costs as much as words.
    std::vector<std::size_t> order(pairs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return pairs[a].premise.words.size() < pairs[b].premise.words.size();
    });
    std::vector<Reply> replies(pairs.size());
    for (std::size_t begin = 0; begin < order.size(); begin += kAtOnce) {
      const auto rows =
          std::span(order).subspan(begin, std::min(kAtOnce, order.size() - begin));
      std::vector<Pair> some;
      for (const std::size_t row : rows) some.push_back(pairs[row]);
      const Tensor logits = classify(matcher_->forward(
          side_of(some, &Pair::premise), side_of(some, &Pair::hypothesis), Want::output));
      const std::vector<float> chances = softmax(logits.to(DType::f32)).to_vector<float>();
      for (std::size_t i = 0; i < rows.size(); ++i)
        replies[rows[i]] =
            reply_of(some[i], std::span(chances).subspan(i * labels().size(), labels().size()));
    }
    return replies;
  }

  maps::Map map(const Input& input, const Piece& piece, std::string_view) const override {
    const std::vector<Pair> pairs{read(input)};
    const Match match =
        matcher_->forward(side_of(pairs, &Pair::premise), side_of(pairs, &Pair::hypothesis),
                          Want::output | Want::weights);
    if (!match.weights.defined())
      fail("attn entail: a model with --matching none never sees the premise; it has no ",
           "attention to draw");
    const Pair& pair = pairs.front();
    maps::Alignment map;
    map.title = piece.answers.front().text;
    map.caption =
        "Where each word of the hypothesis looked in the premise (" + options_.matching + ")";
    map.rows = pair.hypothesis.words;
    map.columns = pair.premise.words;
    map.row_title = kHypothesis;
    map.column_title = kPremise;
    map.weights = {map.rows.size(), map.columns.size(),
                   match.weights.to(DType::f32).to_vector<float>()};
    for (float& weight : map.weights.values) weight = std::clamp(weight, 0.0f, 1.0f);
    return map;
  }

 private:
  static constexpr std::size_t kAtOnce = 32;

  static std::int64_t classes() { return static_cast<std::int64_t>(labels().size()); }

  static std::int64_t index_of(const std::string& label) {
    const auto at = std::find(labels().begin(), labels().end(), label);
    if (at == labels().end())
      fail("attn entail: ", files::in_quotes(label),
           " is no label; entailment, neutral and contradiction are accepted");
    return at - labels().begin();
  }

  /// Of words with a vector to begin with those, of others a draw.
  Tensor first_words(const NetworkOptions& options, const Lexicon& lexicon) const {
    Tensor drawn = normal({tables_.words(), options.dim}, 0.0, kWordSpread, nn::random());
    const auto at = lexicon.start.find("words");
    if (at == lexicon.start.end()) return drawn;
    const std::vector<float> start = at->second.to_vector<float>();
    const auto dim = static_cast<std::size_t>(options.dim);
    if (static_cast<std::int64_t>(start.size()) != drawn.numel())
      fail("attn entail: the vectors to begin with are ", at->second.text(), "; ", drawn.text(),
           " is accepted");
    std::vector<float> all = drawn.to_vector<float>();
    for (std::size_t row = 0; row * dim < start.size(); ++row) {
      const auto vector = std::span(start).subspan(row * dim, dim);
      if (std::any_of(vector.begin(), vector.end(), [](float x) { return x != 0.0f; }))
        std::transform(vector.begin(), vector.end(),
                       all.begin() + static_cast<std::ptrdiff_t>(row * dim),
                       [](float x) { return static_cast<float>(kWordSpread) * x; });
    }
    return Tensor::from(all, drawn.shape());
  }

  Pair read(const Input& input) const {
    return {tables_.read(part(input, kPremise)), tables_.read(part(input, kHypothesis))};
  }

  /// A hidden word is known by its parts alone, as an unknown one will be.
  void hide_words(Sentence& sentence) const {
    if (!training()) return;
    for (std::int64_t& id : sentence.ids)
      if (static_cast<double>(nn::random().next() >> 11) * 0x1p-53 < options_.word_dropout)
        id = text::unknown;
  }

  /// The words of one side of all pairs: [batch, longest, dim + kSharedFeatures].
  Side side_of(const std::vector<Pair>& pairs, Sentence Pair::* side) const {
    Sentence Pair::* other = side == &Pair::premise ? &Pair::hypothesis : &Pair::premise;
    std::size_t longest = 1;
    for (const Pair& pair : pairs) longest = std::max(longest, (pair.*side).words.size());
    const std::size_t cells = pairs.size() * longest;
    std::vector<std::int64_t> words(cells, text::pad);
    std::vector<std::int64_t> stems(cells, text::pad);
    std::vector<std::int64_t> endings(cells, text::pad);
    std::vector<float> shared(cells * kSharedFeatures);
    std::vector<std::int64_t> lengths;
    for (std::size_t row = 0; row < pairs.size(); ++row) {
      const Sentence& sentence = pairs[row].*side;
      const auto at = static_cast<std::ptrdiff_t>(row * longest);
      std::copy(sentence.ids.begin(), sentence.ids.end(), words.begin() + at);
      std::copy(sentence.stems.begin(), sentence.stems.end(), stems.begin() + at);
      std::copy(sentence.endings.begin(), sentence.endings.end(), endings.begin() + at);
      // Without the premise there is nothing to share.
      if (options_.matching != "none") {
        const std::vector<float> some = shared_with(sentence, pairs[row].*other);
        std::copy(some.begin(), some.end(), shared.begin() + at * kSharedFeatures);
      }
      lengths.push_back(static_cast<std::int64_t>(sentence.words.size()));
    }
    const auto rows = static_cast<std::int64_t>(pairs.size());
    const Shape shape{rows, static_cast<std::int64_t>(longest)};
    const auto vectors = [&](const Tensor& table, const std::vector<std::int64_t>& ids) {
      return embedding(table, Tensor::from(ids, shape).to(device()));
    };
    const Tensor features =
        Tensor::from(shared, {rows, static_cast<std::int64_t>(longest), kSharedFeatures})
            .to(words_.dtype())
            .to(device());
    const Tensor sum =
        vectors(words_, words) + vectors(stems_, stems) + vectors(endings_, endings);
    return {concat({dropout_(sum), features}, -1), Tensor::from(lengths, {rows}).to(device())};
  }

  Tensor classify(const Match& match) const {
    return output_(dropout_(relu(hidden_(dropout_(match.features)))));
  }

  Reply reply_of(const Pair& pair, std::span<const float> chances) const {
    Labels all;
    for (std::size_t i = 0; i < labels().size(); ++i)
      all.push_back({labels()[i], static_cast<double>(chances[i])});
    std::stable_sort(all.begin(), all.end(),
                     [](const Label& a, const Label& b) { return a.score > b.score; });
    Answer best;
    best.text = all.front().name;
    best.score = all.front().score;
    best.log_probability = std::log(all.front().score);
    best.finished = true;
    best.output = all;
    Reply reply;
    for (const auto& [sentence, name] :
         {std::pair{&pair.premise, kPremise}, std::pair{&pair.hypothesis, kHypothesis}}) {
      if (const std::string note = note_of(*sentence, name); !note.empty()) {
        reply.unfamiliar = true;
        reply.notes.push_back(note);
      }
      if (sentence->cut) {
        reply.cut = true;
        reply.notes.push_back(std::string("the ") + name + " is long: its first " +
                              std::to_string(kMostWords) + " words were read");
      }
    }
    Piece& piece = reply.pieces.emplace_back();
    piece.cut = reply.cut;
    piece.answers.push_back(best);
    reply.answers.push_back(std::move(best));
    return reply;
  }

  NetworkOptions options_;
  WordTables tables_;
  Tensor words_;  ///< [words, dim]; a word's vector is the sum of three
  Tensor stems_;
  Tensor endings_;
  std::shared_ptr<Matcher> matcher_;
  nn::Linear hidden_;
  nn::Linear output_;
  nn::Dropout dropout_;
};

}  // namespace

const std::vector<std::string>& labels() {
  static const std::vector<std::string> kLabels{"entailment", "neutral", "contradiction"};
  return kLabels;
}

std::shared_ptr<Network> make_network(const NetworkOptions& options, const Lexicon& lexicon,
                                      const std::string& where) {
  for (const char* name : {"words", "stems", "endings"})
    if (!lexicon.vocabularies.contains(name))
      fail<FileError>(where, ": there is no vocabulary ", files::in_quotes(name));
  return std::make_shared<EntailNetwork>(options, lexicon);
}

}  // namespace attn::tasks::entail
