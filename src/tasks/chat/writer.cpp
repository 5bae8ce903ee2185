// Writing word by word.

#include "tasks/chat/writer.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/search.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/chat/batch.hpp"
#include "tasks/chat/layers.hpp"
#include "tasks/chat/vocabulary.hpp"

namespace attn::tasks::chat {
namespace {

/// Inside the logarithm: both ways to a word may round to 0.
constexpr double kLeast = 1e-12;

}  // namespace

WordList extra_words(const Dialogue& dialogue, const Vocabulary& vocabulary) {
  WordList extra;
  for (const WordList& turn : dialogue.forms)
    for (const std::string& form : turn)
      if (vocabulary.output_of(form) == text::Mark::unknown &&
          std::find(extra.begin(), extra.end(), form) == extra.end())
        extra.push_back(form);
  return extra;
}

/// Lines under way, a row each.
class Writer::Lines final : public models::Decoding {
 public:
  Lines(const Writer& writer, const Tensor& dialogues)
      : writer_(writer), origin_(dialogues.to_vector<std::int64_t>()) {
    take(dialogues);
    hidden_ = index_select(writer.begin_, 0, dialogues.to(writer.layers_.device()));
  }

  models::Prediction step(const Tensor& tokens) override {
    const NoGrad off_the_tape;
    const auto ids = tokens.to_vector<std::int64_t>();
    std::vector<WordList> words;
    words.reserve(ids.size());
    for (std::size_t row = 0; row < ids.size(); ++row)
      words.push_back({writer_.form_at(static_cast<std::size_t>(origin_[row]), ids[row])});
    const Layers& layers = writer_.layers_;
    const Layers::Steps steps = layers.write(
        batch_of_rows(words, writer_.vocabulary_.tables(), layers.device()), hidden_);
    hidden_ = steps.last;
    const WordAttention attention = layers.look(encoding_, steps.states, open_);
    Tensor chances = pad(softmax(layers.logits(attention, steps.states, steps.inputs)), 2, 0,
                         writer_.tokens_ - writer_.vocabulary_.outputs());
    if (layers.looks()) {
      const Tensor gate = layers.gate(attention, steps.states, steps.inputs).unsqueeze(-1);
      chances = gate * chances + scatter_add((1.0 - gate) * attention.weights, 2,
                                             ids_.unsqueeze(1), writer_.tokens_);
    }
    Tensor log_probs = log(chances.squeeze(1) + kLeast).to(Device::cpu).contiguous();
    for (std::int64_t row = 0; row < log_probs.size(0); ++row)
      log_probs.mutable_data<float>()[row * log_probs.size(1) + text::Mark::unknown] =
          -std::numeric_limits<float>::infinity();
    return {log_probs, attention.weights.defined() ? attention.weights.squeeze(1) : Tensor()};
  }

  void select(const Tensor& rows) override {
    const NoGrad off_the_tape;
    std::vector<std::int64_t> origin;
    for (const std::int64_t row : rows.to_vector<std::int64_t>())
      origin.push_back(origin_[static_cast<std::size_t>(row)]);
    const bool as_before = origin == origin_;
    origin_ = std::move(origin);
    hidden_ = index_select(hidden_, 0, rows.to(writer_.layers_.device()));
    // Hypotheses of one dialogue read the same.
    if (!as_before) take(Tensor::from(origin_, {static_cast<std::int64_t>(origin_.size())}));
  }

 private:
  void take(const Tensor& dialogues) {
    const Tensor rows = dialogues.to(writer_.layers_.device());
    encoding_ = writer_.encoding_.select(rows);
    open_ = index_select(writer_.open_, 0, rows);
    ids_ = index_select(writer_.ids_, 0, rows);
  }

  const Writer& writer_;
  std::vector<std::int64_t> origin_;  ///< the dialogue of each row
  Encoding encoding_;
  Tensor open_;
  Tensor ids_;
  Tensor hidden_;
};

Writer::Writer(const Layers& layers, const Vocabulary& vocabulary, const Encoding& encoding,
               const std::vector<Dialogue>& dialogues, const char* start)
    : layers_(layers),
      vocabulary_(vocabulary),
      encoding_(encoding),
      dialogues_(dialogues),
      start_(start) {
  for (std::int64_t id = 0; id < vocabulary.outputs(); ++id)
    forms_.push_back(vocabulary.form_at(id));
  std::vector<std::int64_t> ids(
      static_cast<std::size_t>(encoding.dialogues * encoding.turns * encoding.words),
      text::Mark::unknown);
  std::vector<std::int64_t> last;
  Flags open(encoding.dialogues, encoding.turns);
  std::size_t most = 0;
  for (std::int64_t row = 0; row < encoding.dialogues; ++row) {
    const Dialogue& dialogue = dialogues[static_cast<std::size_t>(row)];
    const WordList& extra = extra_.emplace_back(extra_words(dialogue, vocabulary));
    for (std::size_t turn = 0; turn < dialogue.forms.size(); ++turn)
      for (std::size_t i = 0; i < dialogue.forms[turn].size(); ++i) {
        const std::string& form = dialogue.forms[turn][i];
        std::int64_t id = vocabulary.output_of(form);
        if (id == text::Mark::unknown)
          id = vocabulary.outputs() +
               (std::find(extra.begin(), extra.end(), form) - extra.begin());
        ids[(static_cast<std::size_t>(row * encoding.turns) + turn) *
                static_cast<std::size_t>(encoding.words) +
            i] = id;
      }
    most = std::max(most, extra.size());
    open.set_first(row, dialogue.last() + 1);
    last.push_back(row * encoding.turns + dialogue.last());
  }
  tokens_ = vocabulary.outputs() + static_cast<std::int64_t>(most);
  ids_ = Tensor::from(ids, {encoding.dialogues, encoding.turns * encoding.words})
             .to(layers.device());
  open_ = open.tensor().reshape({encoding.dialogues, 1, encoding.turns}).to(layers.device());
  begin_ = layers.begin(encoding, Tensor::from(last, {encoding.dialogues}).to(layers.device()));
}

const std::string& Writer::form_at(std::size_t dialogue, std::int64_t token) const {
  if (token == text::Mark::bos) return start_;
  const auto id = static_cast<std::size_t>(token);
  return id < forms_.size() ? forms_[id] : extra_[dialogue].at(id - forms_.size());
}

std::string Writer::look_of(std::size_t dialogue, const std::string& form,
                            const float* weights) const {
  std::string look = form;
  float most = -1.0f;
  const Dialogue& words = dialogues_[dialogue];
  for (std::size_t turn = 0; turn < words.forms.size(); ++turn)
    for (std::size_t i = 0; i < words.forms[turn].size(); ++i) {
      const float weight = weights == nullptr
                               ? 0.0f
                               : weights[turn * static_cast<std::size_t>(encoding_.words) + i];
      if (words.forms[turn][i] != form || weight <= most) continue;
      most = weight;
      look = words.turns[turn][i];
    }
  return look;
}

WordList Writer::words_of(std::size_t dialogue, const models::Hypothesis& line) const {
  const auto width = static_cast<std::size_t>(encoding_.turns * encoding_.words);
  WordList words;
  bool begins = start_ == kReply;
  for (std::size_t i = 0; i < line.tokens.size(); ++i) {
    const std::string& form = form_at(dialogue, line.tokens[i]);
    const bool is_copy = line.tokens[i] >= vocabulary_.outputs();
    std::string word =
        is_copy ? look_of(dialogue, form,
                          line.weights.empty() ? nullptr : line.weights.data() + i * width)
                : vocabulary_.look_of(form);
    if (begins) word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
    begins = start_ == kReply && (form == "." || form == "?" || form == "!");
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<float> Writer::weights_of(std::size_t dialogue,
                                      const models::Hypothesis& line) const {
  const auto words = static_cast<std::size_t>(encoding_.words);
  const auto turns = static_cast<std::size_t>(encoding_.turns);
  std::vector<float> weights;
  for (std::size_t row = 0; row < line.weights.size() / (turns * words); ++row)
    for (std::size_t turn = 0; turn < dialogues_[dialogue].turns.size(); ++turn) {
      const auto first =
          line.weights.begin() + static_cast<std::ptrdiff_t>((row * turns + turn) * words);
      weights.insert(weights.end(), first,
                     first + std::ssize(dialogues_[dialogue].turns[turn]));
    }
  return weights;
}

std::vector<std::vector<models::Hypothesis>> Writer::search(
    const models::SearchOptions& options) {
  eval();
  const Tensor rows = Tensor::arange(encoding_.dialogues);
  const Tensor width = Tensor::full({encoding_.dialogues}, 1.0, DType::i64);
  return models::search(*this, rows.unsqueeze(1), width, options);
}

Tensor Writer::loss(const models::Batch&, const models::LossOptions&) const {
  fail("attn::tasks::chat::Writer: a writer does not learn; its layers do");
}

std::unique_ptr<models::Decoding> Writer::decode(const Tensor& source, const Tensor&) const {
  const NoGrad off_the_tape;
  return std::make_unique<Lines>(*this, source.select(1, 0).contiguous());
}

}  // namespace attn::tasks::chat
