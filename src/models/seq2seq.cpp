#include "attn/models/seq2seq.hpp"

#include <cstdint>
#include <memory>
#include <vector>

#include "attn/core/error.hpp"
#include "models/head_row.hpp"
#include "models/kinds.hpp"

namespace attn::models {

void Decoding::steer(const Steering& steering) {
  if (!steering.as_trained())
    fail("attn::models::Decoding::steer: this model has no attention that can be steered; ",
         "transformer, luong and bahdanau are accepted");
}

std::vector<Head> Seq2Seq::heads(const Batch& /*batch*/, const Steering& /*steering*/) const {
  return {};
}

HeadRow Seq2Seq::head_row(const Batch& batch, const HeadPlace& place, std::int64_t row,
                          const Steering& /*steering*/) const {
  check_head_row(batch, {}, place, row);
  return {};
}

std::shared_ptr<Seq2Seq> make_model(const ModelOptions& options) {
  validate(options);
  switch (options.kind) {
    case Kind::rnn:
      return make_rnn(options);
    case Kind::bahdanau:
      return make_bahdanau(options);
    case Kind::luong:
      return make_luong(options);
    case Kind::convolutional:
      return make_convolutional(options);
    case Kind::transformer:
      return make_transformer(options);
  }
  fail("attn::models::make_model: kind ", static_cast<int>(options.kind),
       "; the kinds of attn/models/options.hpp are accepted");
}

}  // namespace attn::models
