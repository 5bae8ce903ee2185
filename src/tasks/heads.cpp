#include "tasks/heads.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/models/steering.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/row_steps.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"

namespace attn::tasks {
std::vector<std::string> labels(const text::Tokeniser& tokeniser,
                                const std::vector<std::int64_t>& tokens) {
  std::vector<std::string> list;
  list.reserve(tokens.size());
  for (const std::int64_t token : tokens) list.push_back(tokeniser.label(token));
  return list;
}

std::vector<std::string> target_labels(const PairModel& model, const Answer& answer) {
  std::vector<std::int64_t> written = answer.target;
  written.push_back(text::Mark::eos);
  return labels(model.target, written);
}

std::vector<HeadWeights> heads(const PairModel& model, const Answer& answer,
                               const models::Steering& steering) {
  const std::vector<EncodedPair> pair{{answer.source, answer.target}};
  const models::Batch batch = collate(pair, {0});
  std::vector<std::int64_t> read{text::Mark::bos};
  read.insert(read.end(), answer.target.begin(), answer.target.end());
  const std::vector<std::string> source = labels(model.source, answer.source);
  const std::vector<std::string> said = labels(model.target, read);
  const std::vector<std::string> written = target_labels(model, answer);

  std::vector<HeadWeights> all;
  for (const models::Head& head : model.model->heads(batch, steering)) {
    const Tensor weights = head.weights.to(DType::f32).to(Device::cpu).contiguous();
    const auto* first = weights.data<float>();
    const bool in_encoder = head.part == models::Head::Part::encoder;
    const bool in_decoder = head.part == models::Head::Part::decoder;
    all.push_back({.part = part_name(head.part),
                   .layer = head.layer + 1,
                   .head = head.head + 1,
                   .rows = in_encoder ? source : written,
                   .columns = in_decoder ? said : source,
                   .weights = {first, first + weights.numel()}});
  }
  return all;
}

}  // namespace attn::tasks
