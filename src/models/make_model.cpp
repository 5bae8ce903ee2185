// Makes the sequence-to-sequence model that the options name.

#include <memory>

#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"
#include "models/kinds.hpp"

namespace attn::models {

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
