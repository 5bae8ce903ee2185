// SPDX-License-Identifier: Apache-2.0

#include "tasks/las/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/mechanisms/applied/las_listener_layer.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/las/augment.hpp"
#include "tasks/las/batch.hpp"
#include "tasks/las/data.hpp"
#include "tasks/las/features.hpp"
#include "tasks/las/listener.hpp"
#include "tasks/las/search.hpp"
#include "tasks/las/spoken.hpp"

namespace attn::tasks::las {
namespace {

using Json = nlohmann::json;

/// Seconds that are read, and those that were learnt from.
constexpr double kMostSeconds = 30.0;
constexpr double kUsualSeconds = 8.0;
/// A sound whose loudest band stays below is silent: a speaker's room has more.
constexpr std::uint8_t kSilence = 8;
/// Utterances up to this length may be joined to a longer one while learning.
constexpr std::int64_t kShortFrames = 250;
/// What a batch costs beside its frames, so that short utterances do not make huge ones.
constexpr std::int64_t kCostOfOne = 60;
constexpr std::int64_t kBlank = text::Mark::pad;
constexpr std::int64_t kFirstToken = text::Mark::unknown + 1;
/// Of targets that count for nothing.
constexpr std::int64_t kIgnored = -1;

const text::Tokeniser& vocabulary_of(const Lexicon& lexicon, const std::string& where) {
  const auto at = lexicon.vocabularies.find(kTokens);
  if (at == lexicon.vocabularies.end())
    fail<FileError>(where, ": there is no vocabulary of ", kTokens);
  return at->second;
}

double seconds_of(std::int64_t samples) {
  return static_cast<double>(samples) / static_cast<double>(kRate);
}

class LasNetwork final : public Network {
 public:
  LasNetwork(const Json& model, const text::Tokeniser& vocabulary)
      : model_(model),
        vocabulary_(vocabulary),
        listener_(add("listener", Listener(whole("hidden"), real("dropout")))),
        alignments_(add("alignments",
                        nn::Linear({.in = 2 * whole("hidden"), .out = vocabulary.size()}))) {
    if (!has_attention()) return;
    speller_ = add("speller", Speller({.attention = word("attention"),
                                       .location = word("location"),
                                       .vocabulary = vocabulary.size(),
                                       .heard = 2 * whole("hidden"),
                                       .embedding = whole("embedding"),
                                       .hidden = whole("spell"),
                                       .score = whole("score"),
                                       .channels = whole("channels"),
                                       .width = whole("width"),
                                       .dropout = real("dropout")}));
  }

  std::string kind() const override {
    if (!has_attention()) return "ctc";
    return word("location") == "none" ? "las" : "las_location";
  }

  Learner::Lesson loss(std::span<const Example* const> batch) const override {
    Random own(nn::random().next());
    std::vector<Heard> heard;
    heard.reserve(batch.size());
    for (std::size_t row = 0; row < batch.size(); ++row)
      heard.push_back(changed_row(batch, row, own));
    const FrameBatch frames = padded(heard, device());
    const nn::Listened listened =
        listener_(frames.frames.to(alignments_.weight().dtype()), frames.lengths);
    std::int64_t count = 0;
    for (const Heard& one : heard) count += static_cast<std::int64_t>(one.tokens.size()) + 1;
    const double share = speller_ ? real("ctc") : 1.0;
    Tensor total;
    if (share > 0.0) total = alignment_loss(heard, listened) * share;
    if (speller_ && share < 1.0) {
      const Tensor spelling = spelling_loss(*speller_, heard, listened, own) * (1.0 - share);
      total = total.defined() ? total + spelling : spelling;
    }
    return {total, count};
  }

  std::int64_t cost(const Example& example) const override {
    return example.input().find<Picture>(kFrames)->width + kCostOfOne;
  }

  std::string refusal(const Input& input) const override {
    if (const auto* picture = input.find<Picture>(kFrames))
      return picture->height == kBands && picture->width >= kLeastFrames &&
                     std::ssize(picture->pixels) == kBands * picture->width
                 ? ""
                 : "has no frames of 26 bands";
    const auto* sound = input.find<Sound>(kSound);
    if (sound == nullptr) return "is no sound";
    const std::int64_t size = samples_of(*sound)->size();
    const double seconds = seconds_of(size);
    if (size < kWindow + (kLeastFrames - 1) * kHop)
      return "lasts " + std::to_string(size) +
             " samples of 16,000 a second; a tenth of a second "
             "and more can be read";
    if (seconds > kMostSeconds)
      return "lasts " + std::to_string(std::llround(seconds)) +
             " s; the taught model reads at most 30";
    return "";
  }

  std::vector<Reply> answer(std::span<const Input> inputs,
                            const Choices& choices) const override {
    std::vector<Reply> replies;
    replies.reserve(inputs.size());
    for (const Input& input : inputs) replies.push_back(reply(input, choices));
    return replies;
  }

  maps::Map map(const Input& input, const Piece& piece, std::string_view) const override {
    const Answer& answer = piece.answers.front();
    if (answer.target.empty()) fail("no words were heard; there is nothing to draw");
    if (answer.weights.empty())
      fail("a model of alignments alone has no attention to draw; --attention additive has");
    return speech_of(frames_of(input), answer, vocabulary_);
  }

 private:
  const Json& option(const char* name) const { return model_.at(name); }
  std::int64_t whole(const char* name) const { return option(name).get<std::int64_t>(); }
  double real(const char* name) const { return option(name).get<double>(); }
  const std::string& word(const char* name) const {
    return option(name).get_ref<const std::string&>();
  }
  bool has_attention() const { return word("attention") != "none"; }

  Changes changes() const {
    return {.speed = real("speed"),
            .warp = real("warp"),
            .band_mask = real("band_mask"),
            .frame_mask = real("frame_mask"),
            .masks = whole("masks")};
  }

  static Recording recording_of_example(const Example& example) {
    return recording_of(frames_of(example.input()));
  }

  /// A row of a batch as it is heard this time; a short one may get another one behind it, so
  /// that what was said is not known by heart.
  Heard changed_row(std::span<const Example* const> batch, std::size_t row,
                    Random& random) const {
    std::string target = batch[row]->targets.front();
    Recording recording = recording_of_example(*batch[row]);
    const std::size_t other = random.next() % batch.size();
    if (draw(random) < real("join") && recording.frames <= kShortFrames) {
      const Recording second = recording_of_example(*batch[other]);
      if (second.frames <= kShortFrames) {
        recording = joined(recording, second);
        target += " " + batch[other]->targets.front();
      }
    }
    Heard heard{{}, vocabulary_.encode(target)};
    heard.recording = changed(recording, changes(), least_frames(heard.tokens), random);
    normalise(heard.recording);
    mask(heard.recording, changes(), random);
    return heard;
  }

  /// The mean over the tokens of -log p(tokens), all alignments together.
  Tensor alignment_loss(std::span<const Heard> heard, const nn::Listened& listened) const {
    std::vector<std::int64_t> counts;
    // Few rows.
    // NOLINTNEXTLINE(performance-inefficient-vector-operation)
    for (const Heard& one : heard)
      counts.push_back(static_cast<std::int64_t>(one.tokens.size()));
    const auto rows = static_cast<std::int64_t>(counts.size());
    double tokens = 0.0;
    for (const std::int64_t count : counts) tokens += static_cast<double>(count);
    const Tensor losses =
        ctc_loss(alignments_(listened.output), padded_tokens(heard, {}, {}, kBlank),
                 {listened.lengths, Tensor::from(counts, {rows})}, kBlank);
    return sum(losses) * (1.0 / std::max(1.0, tokens));
  }

  Tensor spelling_loss(const Speller& speller, std::span<const Heard> heard,
                       const nn::Listened& listened, Random& random) const {
    Tensor before = padded_tokens(heard, text::Mark::bos, {}, text::Mark::pad);
    // A speller that cannot trust the token before listens.
    auto* ids = before.mutable_data<std::int64_t>();
    for (std::int64_t i = 0; i < before.numel(); ++i)
      if (ids[i] >= kFirstToken && draw(random) < real("token_dropout")) ids[i] = text::unknown;
    const Tensor targets = padded_tokens(heard, {}, text::Mark::eos, kIgnored);
    const Tensor logits =
        speller.read(speller.memory(listened.output, listened.lengths), before.to(device()));
    return cross_entropy(logits, targets.to(device()),
                         {.smoothing = real("spell_smoothing"), .ignore_index = kIgnored});
  }

  Reply reply(const Input& input, const Choices& choices) const {
    const LogMel sound = frames_of(input);
    if (*std::max_element(sound.values.begin(), sound.values.end()) < kSilence)
      return silent_reply();
    Heard one{recording_of(sound), {}};
    normalise(one.recording);
    const FrameBatch frames = padded({&one, 1}, device());
    const nn::Listened listened = listener_(frames.frames, frames.lengths);
    const std::int64_t count = listened.output.size(1);
    const std::vector<float> logs =
        log_softmax(alignments_(listened.output)).to(DType::f32).to_vector<float>();
    const PrefixScorer scorer({logs.begin(), logs.end()}, count, kBlank);
    const SearchHow how{.beam = choices.beam.value_or(whole("beam")),
                        .ctc = has_attention() ? real("search_ctc") : 1.0,
                        .first = kFirstToken,
                        .end = text::Mark::eos};
    const auto best = static_cast<std::size_t>(std::max<std::int64_t>(1, choices.best));
    Reply reply;
    for (Spelt& spelt : search(speller_ ? &*speller_ : nullptr, listened.output, scorer, how,
                               vocabulary_.size(), best))
      reply.answers.push_back(answer_of(std::move(spelt)));
    const double seconds = seconds_of(sound.frames * kHop);
    if (seconds > kUsualSeconds) {
      reply.unfamiliar = true;
      reply.notes.push_back("the model learnt from sounds of up to 7 s; this one lasts " +
                            std::to_string(std::llround(seconds)) + " s");
    }
    if (reply.answers.front().text.empty()) reply.notes.emplace_back("no words were heard");
    reply.pieces.push_back({"", false, {}, reply.answers});
    return reply;
  }

  static Reply silent_reply() {
    Reply reply;
    Answer& none = reply.answers.emplace_back();
    none.finished = true;
    reply.notes.emplace_back("the sound is silent; no words were heard");
    reply.pieces.push_back({"", false, {}, reply.answers});
    return reply;
  }

  Answer answer_of(Spelt spelt) const {
    Answer answer;
    answer.text = vocabulary_.decode(spelt.tokens);
    answer.score = answer.log_probability = spelt.score;
    answer.finished = spelt.finished;
    answer.target = std::move(spelt.tokens);
    answer.weights = std::move(spelt.weights);
    if (answer.weights.empty()) return answer;
    answer.table = times_of(answer, vocabulary_);
    tell_frames(answer, vocabulary_);
    return answer;
  }

  Json model_;
  text::Tokeniser vocabulary_;
  Listener listener_;
  nn::Linear alignments_;  ///< what CTC reads
  std::optional<Speller> speller_;
};

}  // namespace

std::shared_ptr<Network> make_network(const Json& model, const Lexicon& lexicon,
                                      const std::string& where) {
  if (model.at("width").get<std::int64_t>() % 2 == 0)
    fail<FileError>(where, ": model.width is ", model.at("width").dump(),
                    "; an odd width is accepted, so that a frame lies in its middle");
  return std::make_shared<LasNetwork>(model, vocabulary_of(lexicon, where));
}

}  // namespace attn::tasks::las
