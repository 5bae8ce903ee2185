#include "models/transformer/model.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/tape.hpp"
#include "models/copying.hpp"
#include "models/head_row.hpp"
#include "models/kinds.hpp"
#include "models/token_loss.hpp"
#include "models/transformer/position_tables.hpp"
#include "models/words.hpp"

namespace attn::models::transformer {
namespace {

constexpr const char* kWhere = "attn::models::Transformer";

void check_source(const Tensor& source, const Tensor& lengths) {
  const bool fits = source.defined() && lengths.defined() && source.rank() == 2 &&
                    source.dtype() == DType::i64 && lengths.dtype() == DType::i64 &&
                    lengths.shape() == Shape{source.size(0)};
  if (!fits)
    fail(kWhere, ": source ", source.defined() ? source.text() : "none", " with lengths ",
         lengths.defined() ? lengths.text() : "none",
         "; i64 [batch, source] and [batch] are accepted");
}

ModelOptions checked(const ModelOptions& options) {
  validate(options);
  return options;
}

}  // namespace

Transformer::Transformer(const ModelOptions& options)
    : options_(checked(options)),
      words_(add("words", Words(options))),
      encoder_(add("encoder", Encoder(options))),
      decoder_(add("decoder", Decoder(options))) {
  if (options.copy != Copy::none) copy_ = add("copy", CopyHead(options.dim, options.copy));
}

Tensor Transformer::encode(const Tensor& source, const Tensor& lengths) const {
  const Tensor words = words_.source(source);
  const PositionTables at = positions({0, source.size(1)});
  return encoder_(at.added_to(words), lengths, at);
}

PositionTables Transformer::positions(const PositionRange& range) const {
  if (range.first == 0)
    return position_cache_->get(options_, range.count, words_.dtype(), words_.device());
  return position_tables(options_, range, words_.dtype()).to(words_.device());
}

Transformer::Input Transformer::input(const Tensor& ids,
                                      const PositionTables& positions) const {
  return {positions.added_to(words_.target(ids)), positions};
}

Tensor Transformer::loss(const Batch& batch, const LossOptions& options) const {
  check_batch(batch, kWhere);
  const Tensor memory = encode(batch.source, batch.source_lengths);
  const Input in = input(batch.input, positions({0, batch.input.size(1)}));
  const Tensor states = decoder_(in.words, memory, batch.source_lengths, in.positions);
  const Tensor logits = words_.logits(states);
  if (!copy_) return token_loss(logits, batch.target, options, batch.weights);
  const CopySource source = copy_->read(batch.source, memory, batch.source_lengths);
  const CopyResult copied = copy_->forward(source, states, in.words, {}, options);
  return copy_loss(source, copied, logits, batch, options);
}

Transformer::AllInside Transformer::inside(const Batch& batch, const Steering& steering) const {
  check_source(batch.source, batch.source_lengths);
  const std::int64_t extent = batch.source.size(1);
  steering.validate(extent);
  const Tensor words = words_.source(batch.source);
  const PositionTables source_positions = positions({0, extent});
  const Tensor x = source_positions.added_to(words);
  const Input in = input(batch.input, positions({0, batch.input.size(1)}));
  const nn::AttentionContext steps = steering.context(0, batch.input.size(1), x);
  const nn::AttentionContext source{.keep = spec::lengths(batch.source_lengths) && steps.keep,
                                    .temperature = steps.temperature};
  return {encoder_.inside(x, batch.source_lengths, source_positions),
          decoder_.inside(in.words, encoder_(x, batch.source_lengths, source_positions), source,
                          in.positions)};
}

std::vector<Head> Transformer::heads(const Batch& batch, const Steering& steering) const {
  const NoGrad off_the_tape;
  const AllInside all = inside(batch, steering);
  std::vector<Head> heads;
  const auto add_layer = [&](Head::Part part, std::size_t layer, const Tensor& weights) {
    for (std::int64_t head = 0; head < weights.size(1); ++head)
      heads.push_back({part, static_cast<std::int64_t>(layer), head, weights.select(1, head)});
  };
  for (std::size_t layer = 0; layer < all.encoder.size(); ++layer)
    add_layer(Head::Part::encoder, layer, all.encoder[layer].weights);
  for (std::size_t layer = 0; layer < all.decoder.size(); ++layer)
    add_layer(Head::Part::decoder, layer, all.decoder[layer].self.weights);
  for (std::size_t layer = 0; layer < all.decoder.size(); ++layer)
    add_layer(Head::Part::cross, layer, all.decoder[layer].cross.weights);
  return heads;
}

std::vector<HeadPlace> Transformer::head_places() const {
  std::vector<HeadPlace> all;
  const auto add_part = [&](Head::Part part, std::int64_t layers) {
    for (std::int64_t layer = 0; layer < layers; ++layer)
      for (std::int64_t head = 0; head < options_.heads; ++head)
        all.push_back({part, layer, head});
  };
  add_part(Head::Part::encoder, options_.encoder_layers);
  add_part(Head::Part::decoder, options_.decoder_layers);
  add_part(Head::Part::cross, options_.decoder_layers);
  return all;
}

HeadRow Transformer::head_row(const Batch& batch, const HeadPlace& place, std::int64_t row,
                              const Steering& steering) const {
  const NoGrad off_the_tape;
  check_head_row(batch, head_places(), place, row);
  const AllInside all = inside(batch, steering);
  const auto layer = static_cast<std::size_t>(place.layer);
  switch (place.part) {
    case Head::Part::encoder:
      return all.encoder[layer].row(place, row);
    case Head::Part::decoder:
      return all.decoder[layer].self.row(place, row);
    case Head::Part::cross:
      return all.decoder[layer].cross.row(place, row);
  }
  return {};
}

std::unique_ptr<Decoding> Transformer::decode(const Tensor& source,
                                              const Tensor& lengths) const {
  check_source(source, lengths);
  const NoGrad off_the_tape;
  return start_decoding(*this, source, lengths);
}

}  // namespace attn::models::transformer

namespace attn::models {

std::shared_ptr<Seq2Seq> make_transformer(const ModelOptions& options) {
  return std::make_shared<transformer::Transformer>(options);
}

}  // namespace attn::models
