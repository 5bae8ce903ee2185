#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/core/math.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/normalise/softmax.hpp"
#include "kernels/gpu/general/lower.cuh"
#include "tensor/attend/views.hpp"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/pairs.hpp"

namespace attn::gpu {
namespace {

constexpr const char* kWhere = "attn::attend";

/// The place of number i of a packed [batch, heads, queries, keys].
struct PairPlaces {
  std::int64_t count;
  std::int64_t heads;
  std::int64_t queries;
  std::int64_t keys;

  explicit PairPlaces(const Tensor& x)
      : count(x.numel()), heads(x.size(1)), queries(x.size(2)), keys(x.size(3)) {}

  __device__ Site<float> at(std::int64_t i) const {
    const std::int64_t row = i / keys;
    return {static_cast<int>(row / queries / heads), static_cast<int>(row / queries % heads),
            static_cast<int>(row % queries), static_cast<int>(i % keys)};
  }
};

/// Gradients of tables, each added where it belongs.
struct AddedGrads {
  const DeviceTableGrad* tables;
  Site<float> site;

  __device__ bool wants(int slot) const { return tables[slot].data != nullptr; }
  __device__ void value(int slot, float grad) const { at(slot, 0, grad); }
  __device__ void at(int slot, int index, float grad) const {
    if (!wants(slot)) return;
    const DeviceTableGrad& t = tables[slot];
    atomicAdd(t.data + site.batch * t.strides[0] + site.head * t.strides[1] +
                  site.q * t.strides[2] + index * t.strides[3],
              grad);
  }
  template <class S>
  __device__ void along(int slot, const S& where, float grad) const {
    at(slot, where.k, grad);
  }
};

__device__ DeviceParams params(const DeviceTable* tables, const Site<float>& at) {
  return {tables, at.batch, at.head, at.q};
}

__device__ float score_at(const GeneralStages& stages, const Site<float>& at,
                          float similarity) {
  return stages.score.forward(similarity * stages.scale, at,
                              params(stages.score_tables.data, at));
}

__global__ void score_kernel(GeneralStages stages, PairPlaces positions, const float* s,
                             float left_out, float* out) {
  for_numbers(positions.count, [&](std::int64_t i) {
    const Site<float> at = positions.at(i);
    const float score = stages.mask.keep(at) ? score_at(stages, at, s[i]) : -INFINITY;
    out[i] = score == -INFINITY ? left_out : score;
  });
}

template <class T>
__global__ void weights_kernel(GeneralStages stages, PairPlaces positions, View<const T, 4> q,
                               View<const T, 4> k, View<const float, 3> log_sum_exp,
                               float* out) {
  const std::int64_t group = positions.heads / k.shape[1];
  for_numbers(positions.count, [&](std::int64_t i) {
    const Site<float> at = positions.at(i);
    float score = -INFINITY;
    if (stages.mask.keep(at)) {
      const T* query = q.at(at.batch, at.head, at.q);
      const T* key = k.at(at.batch, at.head / group, at.k);
      float dot = 0.0f;
#pragma unroll 4
      for (std::int64_t c = 0; c < q.shape[3]; ++c)
        dot += static_cast<float>(wide(query[c * q.strides[3]]) * wide(key[c * k.strides[3]]));
      score = score_at(stages, at, dot);
    }
    out[i] =
        score == -INFINITY ? 0.0f : attn::exp(score - *log_sum_exp.at(at.batch, at.head, at.q));
  });
}

__global__ void backward_kernel(GeneralStages stages, StagesGrads<GeneralStages> grads,
                                PairPlaces positions, const float* s, LeftOut left_out,
                                const float* grad, float* ds) {
  for_numbers(positions.count, [&](std::int64_t i) {
    const Site<float> at = positions.at(i);
    float down = 0.0f;
    // What does not count passes nothing on, to tables neither. Softmax sends a score of -inf
    // the gradient 0; where scores are the weights it has to be looked for.
    const bool counts =
        stages.mask.keep(at) && grad[i] != 0.0f &&
        (left_out == LeftOut::minus_infinity || score_at(stages, at, s[i]) != -INFINITY);
    if (counts)
      down = stages.scale * stages.score.backward(grad[i], s[i] * stages.scale, at,
                                                  params(stages.score_tables.data, at),
                                                  AddedGrads{grads.score.data, at});
    ds[i] = down;
  });
}

__global__ void factor_kernel(GeneralStages stages, PairPlaces positions, float* out) {
  for_numbers(positions.count, [&](std::int64_t i) {
    const Site<float> at = positions.at(i);
    out[i] = stages.factor.factor(at, params(stages.factor_tables.data, at));
  });
}

__global__ void pool_again_kernel(PairPlaces positions, std::int64_t channels, const float* w,
                                  const float* v, float* out, std::int64_t count) {
  for_numbers(count, [&](std::int64_t i) {
    if (isfinite(out[i])) return;
    const std::int64_t row = i / channels;
    const std::int64_t first_key = row / positions.queries * positions.keys;
    float sum = 0.0f;
    for (std::int64_t j = 0; j < positions.keys; ++j) {
      const float weight = w[row * positions.keys + j];
      if (weight != 0.0f) sum += weight * v[(first_key + j) * channels + i % channels];
    }
    out[i] = sum;
  });
}

/// The stages beside the similarity and the normaliser, as those of a dot product and softmax.
Lowered rest_of(const Recipe& recipe, const RecipeGrads& grads = {}) {
  Recipe rest = recipe;
  if (rest.similarity != Similarity::dot) rest.scale = 1.0f;
  rest.similarity = Similarity::dot;
  rest.weights = {};
  rest.normaliser = erase_normaliser(normalise::Softmax{}, {});
  return lower(kWhere, rest, grads);
}

}  // namespace

void score_pairs(const Recipe& recipe, const Tensor& similarities, LeftOut left_out,
                 const Tensor& out) {
  const Lowered lowered = rest_of(recipe);
  launch(out.numel(), score_kernel, lowered.stages, PairPlaces(out),
         op::numbers<const float>(similarities), left_out == LeftOut::zero ? 0.0f : -INFINITY,
         op::numbers<float>(out));
}

void softmax_weights(const Recipe& recipe, const Tensor& q, const Tensor& k,
                     const Tensor& log_sum_exp, const Tensor& out) {
  const Lowered lowered = rest_of(recipe);
  if (out.numel() == 0) return;
  dispatch_numbers(q.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    weights_kernel<<<blocks_for(out.numel(), kThreads), kThreads, 0, stream()>>>(
        lowered.stages, PairPlaces(out), op::view<const T, 4>(q), op::view<const T, 4>(k),
        op::view<const float, 3>(log_sum_exp), op::numbers<float>(out));
  });
  check_launch();
}

void score_pairs_backward(const Recipe& recipe, const RecipeGrads& tables,
                          const Tensor& similarities, LeftOut left_out, const Tensor& grad,
                          const Tensor& d_similarities) {
  const Lowered lowered = rest_of(recipe, tables);
  clear_tables(tables, stream());
  launch(grad.numel(), backward_kernel, lowered.stages, lowered.grads, PairPlaces(grad),
         op::numbers<const float>(similarities), left_out, op::numbers<const float>(grad),
         op::numbers<float>(d_similarities));
}

void pool_again(const Tensor& weights, const Tensor& v, const Tensor& out) {
  launch(out.numel(), pool_again_kernel, PairPlaces(weights), out.size(3),
         op::numbers<const float>(weights), op::numbers<const float>(v),
         op::numbers<float>(out), out.numel());
}

void weight_factors(const Recipe& recipe, const Tensor& out) {
  const Lowered lowered = rest_of(recipe);
  for (int i = 0; i < lowered.stages.factor.count; ++i)
    if (lowered.stages.factor.links[i].slots > 0)
      fail<Unsupported>(kWhere,
                        ": weights, or this similarity, on the gpu with a weight modifier that "
                        "has tables; dropout is accepted");
  launch(out.numel(), factor_kernel, lowered.stages, PairPlaces(out), op::numbers<float>(out));
}

}  // namespace attn::gpu
