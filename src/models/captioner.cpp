#include "attn/models/captioner.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/picture_encoder.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/hard/doubly_stochastic.hpp"
#include "attn/nn/mechanisms/hard/hard_attention.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "models/token_loss.hpp"

namespace attn::models {

// What a captioner holds while it reads or speaks.

struct Captioner::Source {
  Tensor annotations;  ///< [batch, places, channels]
  Tensor keys;         ///< [batch, places, score]: projected once
};

struct Captioner::State {
  Tensor hidden;  ///< [batch, hidden]
  Tensor cell;
};

struct Captioner::Step {
  Tensor hidden;  ///< [batch, 1, hidden], what asked
  Tensor scores;  ///< [batch, 1, places]
  Tensor alpha;   ///< their softmax
  Tensor gate;    ///< [batch, 1]
  Tensor places;  ///< i64 [batch, 1] of hard attention
  Tensor logits;  ///< [batch, vocabulary]
};

namespace {

CaptionerOptions checked_captioner(const CaptionerOptions& options) {
  if (options.vocabulary <= kUnknown || options.words < 1 || options.hidden < 1 ||
      options.score < 1)
    fail("attn::models::Captioner: vocabulary ", options.vocabulary, ", words ", options.words,
         ", hidden ", options.hidden, ", score ", options.score, "; more than ", kUnknown,
         " and at least 1 are accepted");
  return options;
}

void check(const CaptionBatch& batch, const CaptionerOptions& options) {
  const bool fits = batch.canvas.rank() == 3 && batch.input.rank() == 2 &&
                    batch.input.size(0) == batch.canvas.size(0) && batch.input.numel() > 0 &&
                    batch.target.shape() == batch.input.shape();
  if (!fits)
    fail("attn::models::Captioner: canvas ", batch.canvas.text(), ", input ",
         batch.input.text(), " and target ", batch.target.text(), "; [batch, ", options.side,
         ", ", options.side, "], [batch, steps] and [batch, steps] are accepted");
}

/// How many targets of each row count: i64 [batch].
Tensor lengths_of(const Tensor& target) {
  const Tensor ids = target.contiguous();
  const auto* id = ids.data<std::int64_t>();
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(target.size(0)), 0);
  for (std::int64_t i = 0; i < ids.numel(); ++i)
    if (id[i] != kPad) ++lengths[static_cast<std::size_t>(i / target.size(1))];
  return Tensor::from(lengths, {target.size(0)});
}

Tensor best_places(const Tensor& scores) {
  const NoGrad off_the_tape;
  return attend({}, {}, {}, spec::given(scores.detach()), {}, spec::hard_argmax(),
                Want::arg_max)
      .arg_max;
}

/// Which captions are to use the mixture: boolean [batch].
Tensor coins(std::int64_t batch, double probability, Device device) {
  const auto thrown = uniform({batch}, 0.0, 1.0, nn::random()).to_vector<float>();
  const Tensor soft = Tensor::zeros({batch}, DType::boolean);
  bool* flags = soft.mutable_data<bool>();
  for (std::size_t i = 0; i < thrown.size(); ++i)
    flags[i] = static_cast<double>(thrown[i]) < probability;
  return soft.to(device);
}

std::vector<float> floats(const Tensor& x) {
  return x.to(DType::f32).to_vector<float>();
}

/// The likeliest word that may be said; the first of equals.
std::int64_t best_word(const float* log_probabilities, std::int64_t vocabulary) {
  std::int64_t best = kEos;
  for (std::int64_t word = kEos + 1; word < vocabulary; ++word)
    if (log_probabilities[word] > log_probabilities[best]) best = word;
  return best;
}

}  // namespace

Looking looking_named(std::string_view name) {
  if (name == "soft") return Looking::soft;
  if (name == "hard") return Looking::hard;
  fail("attn::models::looking_named: '", name, "'; soft and hard are accepted");
}

const char* name_of(Looking looking) {
  return looking == Looking::soft ? "soft" : "hard";
}

Captioner::Captioner(const CaptionerOptions& options)
    : options_(checked_captioner(options)),
      encoder_(
          add("encoder", PictureEncoder({.side = options.side, .channels = options.channels}))),
      start_(
          add("start", nn::Linear({.in = encoder_.layout_size(), .out = 2 * options.hidden}))),
      words_(
          add("words", nn::Embedding({.rows = options.vocabulary, .features = options.words}))),
      query_(add("query", nn::Linear({.in = options.hidden, .out = options.score}))),
      key_(add("key", nn::without_bias(options.channels, options.score))),
      score_(add("score", nn::without_bias(options.score, 1))),
      gate_(add("gate", nn::DoublyStochasticAttention(options.hidden))),
      rnn_(add("rnn",
               nn::Lstm({.in = options.words + options.channels, .hidden = options.hidden}))),
      from_state_(add("from_state", nn::Linear({.in = options.hidden, .out = options.words}))),
      from_picture_(add("from_picture", nn::without_bias(options.channels, options.words))),
      out_(add("out", nn::Linear({.in = options.words, .out = options.vocabulary}))),
      baseline_(add_buffer("baseline", Tensor::zeros({1}))) {}

Device Captioner::device() const {
  return baseline_.device();
}

Captioner::Source Captioner::begin(const Tensor& canvases, State& state) const {
  const EncodedPicture seen = encoder_(canvases.to(score_.weight().dtype()).to(device()));
  const Tensor start = start_(seen.layout);
  state = {tanh(start.slice(1, 0, options_.hidden)),
           start.slice(1, options_.hidden, 2 * options_.hidden)};
  return {seen.annotations, key_(seen.annotations)};
}

Captioner::Step Captioner::step(const Source& source, State& state, const Tensor& tokens,
                                Choice choice, const Tensor& places,
                                const Tensor& use_soft) const {
  Step made;
  made.hidden = state.hidden.unsqueeze(1);
  made.scores = attend(query_(made.hidden), source.keys, {},
                       spec::additive(score_.weight().reshape({options_.score})), {},
                       spec::identity(), Want::weights)
                    .weights;
  const nn::DoublyStochasticResult soft = gate_.forward(
      {.scores = made.scores, .annotations = source.annotations, .hidden = made.hidden});
  made.alpha = soft.alpha;
  made.gate = soft.beta;
  Tensor context = soft.context;
  if (options_.looking == Looking::hard) {
    made.places = choice == Choice::given  ? places
                  : choice == Choice::draw ? nn::draw_locations(made.scores, {}, nn::random())
                                           : best_places(made.scores);
    context = nn::annotations_at(source.annotations, made.places) * soft.beta.unsqueeze(2);
    if (use_soft.defined())
      context = where(use_soft.reshape({use_soft.size(0), 1, 1}), soft.context, context);
  }
  context = context.squeeze(1);
  const Tensor word = words_(tokens);
  const LstmStep next =
      lstm_cell(concat({word, context}, 1), state.hidden, state.cell, rnn_.weights().front());
  state = {next.state, next.cell};
  made.logits = out_(word + from_state_(state.hidden) + from_picture_(context));
  return made;
}

CaptionReading Captioner::run(const CaptionBatch& batch, Choice choice, const Tensor& places,
                              const Tensor& use_soft) const {
  check(batch, options_);
  State state;
  const Source source = begin(batch.canvas, state);
  const Tensor input = batch.input.to(device());
  std::vector<Tensor> logits;
  std::vector<Tensor> scores;
  std::vector<Tensor> hidden;
  std::vector<Tensor> looked;
  for (std::int64_t t = 0; t < batch.input.size(1); ++t) {
    const Tensor here = places.defined() ? places.slice(1, t, t + 1) : Tensor();
    const Step made = step(source, state, input.select(1, t), choice, here, use_soft);
    logits.push_back(made.logits);
    scores.push_back(made.scores);
    hidden.push_back(made.hidden);
    if (made.places.defined()) looked.push_back(made.places);
  }
  CaptionReading reading;
  reading.logits = stack(logits, 1);
  reading.scores = concat(scores, 1);
  if (!looked.empty()) reading.places = concat(looked, 1);
  // A sum over a caption is no number for 16 bits.
  const Tensor log_probs = log_softmax(
      reading.logits.dtype() == DType::f64 ? reading.logits : reading.logits.to(DType::f32));
  const Tensor word = gather(log_probs, 2, batch.target.to(device()).unsqueeze(2));
  reading.log_py =
      sum(keep_where(word.squeeze(2), counted_targets(batch.target).to(device())), 1);
  // The term looks at all steps at once, so it is asked for once they are all there.
  if (options_.looking == Looking::soft)
    reading.regulariser = gate_
                              .forward({.scores = reading.scores,
                                        .annotations = source.annotations,
                                        .hidden = concat(hidden, 1),
                                        .target_lens = lengths_of(batch.target)})
                              .regulariser;
  return reading;
}

CaptionReading Captioner::read(const CaptionBatch& batch, const Tensor& places,
                               const Tensor& use_soft) const {
  const auto moved = [this](const Tensor& x) { return x.defined() ? x.to(device()) : x; };
  return run(batch, places.defined() ? Choice::given : Choice::best, moved(places),
             moved(use_soft));
}

Tensor Captioner::reinforce(const CaptionBatch& batch, const CaptionReading& reading,
                            const nn::ReinforceOptions& options, const Tensor& use_soft) {
  const nn::Reinforced made =
      nn::reinforce({.scores = reading.scores,
                     .sample = reading.places,
                     .log_py = reading.log_py,
                     .baseline = baseline_.detach().clone().to(reading.log_py.dtype()),
                     .target_lens = lengths_of(batch.target),
                     .use_soft = use_soft.defined() ? use_soft.to(device()) : use_soft},
                    options);
  const NoGrad off_the_tape;
  baseline_.copy_from(made.new_baseline);
  return made.surrogate;
}

Tensor Captioner::loss(const CaptionBatch& batch, const CaptionLossOptions& options) {
  if (options_.looking == Looking::hard && training()) {
    const Tensor use_soft = coins(batch.canvas.size(0), options.soft_probability, device());
    const CaptionReading reading = run(batch, Choice::draw, {}, use_soft);
    return reinforce(batch, reading, options.reinforce, use_soft);
  }
  const CaptionReading reading = read(batch);
  const Tensor words = token_loss(reading.logits, batch.target, {});
  return options_.looking == Looking::hard ? words
                                           : words + mean(reading.regulariser) * options.doubly;
}

std::vector<Described> Captioner::describe(const Tensor& canvases, std::int64_t longest) const {
  if (longest < 1)
    fail("attn::models::Captioner::describe: captions of ", longest, " words; 1 or more");
  const NoGrad off_the_tape;
  State state;
  const Source source = begin(canvases, state);
  const auto rows = static_cast<std::size_t>(canvases.size(0));
  const auto places = static_cast<std::size_t>(grid() * grid());
  const auto vocabulary = static_cast<std::size_t>(options_.vocabulary);
  std::vector<Described> made(rows);
  std::vector<std::int64_t> tokens(rows, kBos);
  std::vector<bool> ended(rows, false);
  std::size_t open = rows;
  // One step more than words: the last may still be kEos.
  for (std::int64_t t = 0; t <= longest && open > 0; ++t) {
    const Tensor read = Tensor::from(tokens, {canvases.size(0)}).to(device());
    const Step step = this->step(source, state, read, Choice::best, {}, {});
    const std::vector<float> log_probs = floats(log_softmax(step.logits));
    const std::vector<float> alpha = floats(step.alpha);
    const std::vector<float> gates = floats(step.gate);
    const auto looked = step.places.defined() ? step.places.to_vector<std::int64_t>()
                                              : std::vector<std::int64_t>();
    for (std::size_t row = 0; row < rows; ++row) {
      Described& one = made[row];
      if (ended[row]) continue;
      const float* of_row = log_probs.data() + row * vocabulary;
      const std::int64_t word = best_word(of_row, options_.vocabulary);
      one.finished = word == kEos;
      ended[row] = one.finished || t == longest;
      if (ended[row]) --open;
      one.log_probability += static_cast<double>(of_row[ended[row] ? kEos : word]);
      one.gates.push_back(gates[row]);
      if (looked.empty()) {
        const auto* first = alpha.data() + row * places;
        one.weights.insert(one.weights.end(), first, first + places);
      } else {
        one.weights.resize(one.weights.size() + places, 0.0f);
        one.weights[one.weights.size() - places + static_cast<std::size_t>(looked[row])] = 1.0f;
      }
      if (!ended[row]) one.words.push_back(word);
      tokens[row] = word;
    }
  }
  return made;
}

}  // namespace attn::models
