#include "attn/models/seq2seq.hpp"

#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/look.hpp"

namespace attn::models {

void Decoding::steer(const Look& look) {
  if (!look.as_trained())
    fail("attn::models::Decoding::steer: this model has no attention that can be steered; ",
         "transformer, luong and bahdanau are accepted");
}

std::vector<Head> Seq2Seq::heads(const Batch& /*batch*/, const Look& /*look*/) const {
  return {};
}

}  // namespace attn::models
