#include "attn/models/seq2seq.hpp"

#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/models/steering.hpp"
#include "models/head_row.hpp"

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

}  // namespace attn::models
