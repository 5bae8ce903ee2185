#include "models/head_row.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/storage.hpp"

namespace attn::models {
namespace {

constexpr const char* kWhere = "attn::models::Seq2Seq::head_row: ";

const char* name_of(Head::Part part) {
  switch (part) {
    case Head::Part::encoder:
      return "encoder";
    case Head::Part::decoder:
      return "decoder";
    case Head::Part::cross:
      return "cross";
  }
  return "";
}

/// scale times the sum over channels of pair(channel, query, key), for each key.
template <class Pair>
Tensor scores_of(const Tensor& query, const Tensor& keys, double scale, const Pair& pair) {
  const std::vector<float> q = query.to_vector<float>();
  const std::vector<float> k = keys.to_vector<float>();
  std::vector<double> scores(static_cast<std::size_t>(keys.size(0)), 0.0);
  for (std::size_t j = 0; j < scores.size(); ++j) {
    for (std::size_t c = 0; c < q.size(); ++c)
      scores[j] += pair(c, static_cast<double>(q[c]), static_cast<double>(k[j * q.size() + c]));
    scores[j] *= scale;
  }
  return Tensor::from(scores, {keys.size(0)});
}

}  // namespace

void check_head_row(const Batch& batch, const std::vector<HeadPlace>& positions,
                    const HeadPlace& place, std::int64_t row) {
  if (positions.empty())
    fail(kWhere, "this model has no attention that can be stepped through");
  if (batch.source.size(0) != 1) fail(kWhere, batch.source.size(0), " pairs; one is accepted");
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  for (const HeadPlace& one : positions) {
    if (one.part != place.part) continue;
    layers = std::max(layers, one.layer + 1);
    heads = std::max(heads, one.head + 1);
  }
  const char* part = name_of(place.part);
  if (layers == 0) fail(kWhere, "this model has no heads in the part ", part);
  if (place.layer < 0 || place.layer >= layers || place.head < 0 || place.head >= heads)
    fail(kWhere, "layer ", place.layer + 1, ", head ", place.head + 1, " of the ", part,
         "; layers 1 to ", layers, " with heads 1 to ", heads, " are accepted");
  const std::int64_t rows =
      (place.part == Head::Part::encoder ? batch.source : batch.input).size(1);
  if (row < 0 || row >= rows)
    fail(kWhere, "row ", row, " of the ", part, "; 0 to ", rows - 1, " are accepted");
}

Tensor on_cpu(const Tensor& x) {
  return x.detach().to(DType::f32).to(Device::cpu).contiguous();
}

Tensor product_scores(const Tensor& query, const Tensor& keys, double scale) {
  return scores_of(query, keys, scale, [](std::size_t, double q, double k) { return q * k; });
}

Tensor additive_scores(const Tensor& query, const Tensor& keys, const Tensor& weight,
                       double scale) {
  const std::vector<float> w = weight.to_vector<float>();
  return scores_of(query, keys, scale, [&](std::size_t c, double q, double k) {
    return static_cast<double>(w[c]) * std::tanh(q + k);
  });
}

Tensor open_keys(const Mask& keep, const Shape& scores, const HeadPlace& place,
                 std::int64_t row, Device device) {
  const Tensor even = Tensor::zeros(scores, DType::f32, device);
  const Tensor weights =
      attend({}, {}, {}, spec::given(even), keep, spec::softmax(), Want::weights).weights;
  const std::vector<float> shares =
      weights.select(0, 0).select(0, place.head).select(0, row).to_vector<float>();
  const Tensor open = Tensor::empty({weights.size(3)}, DType::boolean);
  for (std::size_t j = 0; j < shares.size(); ++j)
    open.mutable_data<bool>()[j] = shares[j] > 0.0f;
  return open;
}

}  // namespace attn::models
