// Decoding step by step: earlier positions lie in caches, the source is never read again.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/recurrent/decoder_step.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "models/copying.hpp"
#include "models/packed_linear.hpp"
#include "models/transformer/model.hpp"
#include "models/transformer/position_tables.hpp"

namespace attn::models::transformer {
namespace {

constexpr const char* kWhere = "attn::models::Transformer: ";

/// Tables are made for so many positions at a time.
constexpr std::int64_t kPositions = 32;

/// Rows as groups of one size, each of one source: [0 0 1 1 1 1] is 0, 1, 1 in groups of two.
struct Groups {
  std::int64_t size = 1;
  std::vector<std::int64_t> sources;
};

Groups grouped(const std::vector<std::int64_t>& source_of_row) {
  const auto rows = static_cast<std::int64_t>(source_of_row.size());
  Groups groups{std::max<std::int64_t>(1, rows), {}};
  // Where the source changes, a group ends: the size divides every such place.
  for (std::size_t i = 1; i < source_of_row.size(); ++i)
    if (source_of_row[i] != source_of_row[i - 1])
      groups.size = std::gcd(groups.size, static_cast<std::int64_t>(i));
  for (std::int64_t i = 0; i < rows; i += groups.size)
    groups.sources.push_back(source_of_row[static_cast<std::size_t>(i)]);
  return groups;
}

class TransformerDecoding final : public Decoding {
 public:
  TransformerDecoding(const Transformer& model, const Tensor& source, const Tensor& lengths)
      : model_(model),
        // What copies has weights of its own.
        want_(model.copy() ? Want::output : Want::output | Want::weights),
        lengths_(lengths),
        covers_(model.options().copy == Copy::coverage),
        sources_(source.size(0)),
        ancestry_(source.size(0)),
        layers_(model.decoder().begin(model.packed())),
        output_(model.words().packed_output(model.packed())) {
    const Tensor memory = model.encode(source, lengths);
    memory_ = model.decoder().remember(memory);
    if (const CopyHead* copy = model.copy()) copying_ = copy->read(source, memory, lengths);
  }

  Prediction step(const Tensor& tokens) override;
  void select(const Tensor& rows) override;
  void steer(const Steering& steering) override { steering_ = steering; }
  void leave_out_weights() override { want_ = Want::output; }

 private:
  Prediction copied(const Tensor& inputs, const Tensor& states, const Tensor& logits,
                    const nn::AttentionContext& context);
  PositionTables next_position();
  void choose_sources(const std::vector<std::int64_t>& sources);

  const Transformer& model_;
  Steering steering_;
  Want want_;                   ///< of the last layer
  Tensor lengths_;              ///< i64 [sources]
  std::vector<Tensor> memory_;  ///< a layer each
  bool covers_;                 ///< whether it has coverage
  CopySource copying_;  ///< of a model that copies: with coverage, a source for each row
  Tensor covered_;      ///< [rows, source]: how much each word was looked at
  std::int64_t sources_;
  std::int64_t group_ = 1;  ///< rows of a source
  nn::Ancestry ancestry_;
  std::vector<LayerStep> layers_;
  PackedLinear output_;
  std::int64_t length_ = 0;
  PositionTables positions_;  ///< of the steps length_ - length_ % kPositions and on
};

PositionTables TransformerDecoding::next_position() {
  if (length_ % kPositions == 0) positions_ = model_.positions({length_, kPositions});
  return positions_.at(length_ % kPositions);
}

Prediction TransformerDecoding::step(const Tensor& tokens) {
  const NoGrad off_the_tape;
  const std::int64_t rows = sources_ * group_;
  if (!(tokens.shape() == Shape{rows}) || tokens.dtype() != DType::i64)
    fail(kWhere, "tokens ", tokens.text(), "; i64 [", rows, "] is accepted");
  // Rows of a source are not positions: all of them are at the same place.
  const Transformer::Input in =
      model_.input(tokens.reshape({sources_, group_}), next_position());
  const nn::AttentionContext steering = steering_.context(length_, 1, memory_.front());
  const Decoder::Next next =
      model_.decoder().next(in.words, memory_,
                            {.keep = spec::lengths(lengths_) && steering.keep,
                             .temperature = steering.temperature,
                             .want = want_},
                            in.positions, layers_);
  ancestry_.append();
  ++length_;
  const Tensor logits = output_(next.states);
  if (model_.copy()) return copied(in.words, next.states, logits, steering);
  return {
      log_softmax(logits).reshape({rows, logits.size(2)}),
      next.weights.defined() ? next.weights.reshape({rows, next.weights.size(2)}) : Tensor()};
}

Prediction TransformerDecoding::copied(const Tensor& inputs, const Tensor& states,
                                       const Tensor& logits,
                                       const nn::AttentionContext& context) {
  // Rows of a source are like steps of it, unless each remembers what it has looked at.
  const std::int64_t rows = sources_ * group_;
  const auto arranged = [&](const Tensor& x) {
    return covers_ ? x.reshape({rows, 1, x.size(2)}) : x;
  };
  const CopyResult result = model_.copy()->forward(copying_, arranged(states), arranged(inputs),
                                                   covered_, {}, context);
  if (covers_) covered_ = result.covered;
  return {mixed_log_probabilities(copying_, result, arranged(logits))
              .reshape({rows, logits.size(2)}),
          result.weights.reshape({rows, result.weights.size(2)})};
}

void TransformerDecoding::choose_sources(const std::vector<std::int64_t>& sources) {
  std::vector<std::int64_t> as_they_are(static_cast<std::size_t>(sources_));
  std::iota(as_they_are.begin(), as_they_are.end(), 0);
  sources_ = static_cast<std::int64_t>(sources.size());
  if (sources == as_they_are) return;
  const Tensor index = Tensor::from(sources, {sources_});
  lengths_ = nn::select_rows(lengths_, 0, index);
  const Tensor there = index.to(memory_.front().device());
  for (Tensor& layer : memory_) layer = nn::select_rows(layer, 0, there);
  if (model_.copy() && !covers_) copying_.select(index);
}

void TransformerDecoding::select(const Tensor& rows) {
  const NoGrad off_the_tape;
  if (rows.rank() != 1 || rows.dtype() != DType::i64)
    fail(kWhere, "rows ", rows.text(), "; i64 [rows] is accepted");
  const Tensor packed = rows.contiguous();
  const std::span<const std::int64_t> chosen(packed.data<std::int64_t>(),
                                             static_cast<std::size_t>(packed.numel()));
  std::vector<std::int64_t> sources;
  sources.reserve(chosen.size());
  for (const std::int64_t row : chosen) {
    if (row < 0 || row >= sources_ * group_)
      fail(kWhere, "row ", row, " of ", sources_ * group_, " is selected; 0 to ",
           sources_ * group_ - 1, " are accepted");
    sources.push_back(row / group_);
  }
  const Groups after = grouped(sources);
  group_ = after.size;
  choose_sources(after.sources);
  if (memory_.front().device() == Device::gpu) {
    // Kernels copy whole rows: which of their positions moved would have to be sent there.
    const Tensor there = packed.to(Device::gpu);
    for (LayerStep& layer : layers_) layer.cache().select(there);
  } else {
    const nn::RowMoves moves = ancestry_.select(chosen);
    for (LayerStep& layer : layers_) layer.cache().select(moves);
  }
  if (!covers_) return;
  copying_.select(packed);
  covered_ = nn::select_rows(covered_, 0, packed);
}

}  // namespace

std::unique_ptr<Decoding> start_decoding(const Transformer& model, const Tensor& source,
                                         const Tensor& lengths) {
  return std::make_unique<TransformerDecoding>(model, source, lengths);
}

}  // namespace attn::models::transformer
