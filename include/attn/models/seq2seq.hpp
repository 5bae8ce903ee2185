/// The one interface of all sequence-to-sequence models.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <vector>

#include "attn/models/options.hpp"   // IWYU pragma: export
#include "attn/models/steering.hpp"  // IWYU pragma: export
#include "attn/nn/module.hpp"

namespace attn::models {

/// Marks that every vocabulary begins with.
inline constexpr std::int64_t kPad = 0;
inline constexpr std::int64_t kBos = 1;
inline constexpr std::int64_t kEos = 2;
inline constexpr std::int64_t kUnknown = 3;

/// Pairs as whole numbers; shorter rows end with kPad, which changes nothing. They lie on the
/// CPU, wherever the model is.
struct Batch {
  Tensor source;          ///< i64 [batch, source]
  Tensor source_lengths;  ///< i64 [batch]
  Tensor input;           ///< i64 [batch, steps]: kBos, then the target
  Tensor target;          ///< i64 [batch, steps]: the target, then kEos
  Tensor weights{};       ///< f32 [batch]: how much the tokens of a row count; none: all alike
};

struct LossOptions {
  double smoothing = 0.0;  ///< of the targets
  double coverage = 0.0;   ///< weight of the coverage loss, of a model that has one
};

/// What a model predicts after a step.
struct Prediction {
  Tensor log_probabilities;  ///< [rows, target vocabulary]
  Tensor weights;            ///< [rows, source]; none without attention, or where left out
};

/// A decoding under way. Rows are the sources of the batch, and later beams. Nothing is
/// recorded on the tape.
class Decoding {
 public:
  virtual ~Decoding() = default;
  /// Reads one token a row, i64 [rows]; kBos first.
  virtual Prediction step(const Tensor& tokens) = 0;
  /// Continues with the chosen rows, i64 [new rows]; a row may be taken several times or not.
  virtual void select(const Tensor& rows) = 0;
  /// Attention goes where `steering` says from here on. InvalidArgument from a model that has
  /// no attention or whose attention cannot be steered so.
  virtual void steer(const Steering& steering);
  /// Nobody wants weights from here on; a model that can saves their work.
  virtual void leave_out_weights() {}
};

/// The weights of a head.
struct Head {
  enum class Part { encoder, decoder, cross };
  Part part = Part::cross;
  std::int64_t layer = 0;  ///< from 0
  std::int64_t head = 0;   ///< from 0
  Tensor weights;          ///< [batch, queries, keys]
};

/// Which head, counted as Head does.
struct HeadPlace {
  Head::Part part = Head::Part::cross;
  std::int64_t layer = 0;
  std::int64_t head = 0;
};

/// One row of a head, step by step: softmax(scores where open) * factors = weights, and weights
/// times values = output.
struct HeadRow {
  Tensor query{};      ///< [channels]; none unless a score is scale * query . key
  Tensor keys{};       ///< [keys, channels], as this query meets them; so
  double scale = 1.0;  ///< of the products; the temperature is in it
  Tensor scores;       ///< f64 [keys], of all keys
  Tensor open;         ///< boolean [keys]: those that the mask leaves
  Tensor factors{};    ///< f64 [keys]; none: all are 1
  Tensor weights;      ///< [keys], as the model had them
  Tensor values;       ///< [keys, value channels], as this query meets them
  Tensor output;       ///< [value channels], as the model had it
};

class Seq2Seq : public nn::Module {
 public:
  virtual ~Seq2Seq() = default;

  /// Teacher forcing: the mean loss of a target token, times the weight of its row if rows have
  /// weights, which are then not smoothed; one number. Batches are equal to their rows one by
  /// one, weighted by tokens.
  virtual Tensor loss(const Batch& batch, const LossOptions& options = {}) const = 0;

  /// source i64 [batch, source], lengths i64 [batch]. The model must outlive the decoding.
  virtual std::unique_ptr<Decoding> decode(const Tensor& source,
                                           const Tensor& lengths) const = 0;

  /// The weights of every head when the model reads the batch, steered by `steering`; nothing
  /// for a model without heads. batch.target is not read.
  virtual std::vector<Head> heads(const Batch& batch, const Steering& steering = {}) const;

  /// The heads whose rows head_row gives; nothing for a model without attention.
  virtual std::vector<HeadPlace> head_places() const { return {}; }

  /// The row of a head when the model reads the batch, which is one pair, steered by
  /// `steering`. All tensors lie on the CPU. InvalidArgument for a head or a row that is not
  /// there.
  virtual HeadRow head_row(const Batch& batch, const HeadPlace& place, std::int64_t row,
                           const Steering& steering = {}) const;
};

/// A model with fresh parameters, drawn from nn::random().
std::shared_ptr<Seq2Seq> make_model(const ModelOptions& options);

}  // namespace attn::models
