/// The sentence encoder as its formulas read: plain loops in double over a FakeEncoder.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tasks/embed/fake_encoder.hpp"

namespace attn::tasks {

using Row = std::vector<double>;

/// x W + b, W [in, out].
inline Row plain_dense(const Row& x, const std::vector<float>& w, const std::vector<float>& b) {
  Row y(b.begin(), b.end());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t o = 0; o < y.size(); ++o) y[o] += x[i] * w[i * y.size() + o];
  return y;
}

inline Row plain_norm(const Row& x, const std::vector<float>& scale,
                      const std::vector<float>& shift) {
  double mean = 0.0;
  double variance = 0.0;
  for (const double value : x) mean += value / static_cast<double>(x.size());
  for (const double value : x)
    variance += (value - mean) * (value - mean) / static_cast<double>(x.size());
  Row y;
  for (std::size_t i = 0; i < x.size(); ++i)
    y.push_back((x[i] - mean) / std::sqrt(variance + FakeEncoder::kEps) * scale[i] + shift[i]);
  return y;
}

inline std::vector<Row> plain_attention(const std::vector<Row>& qkv, double scale) {
  const std::size_t inner = qkv[0].size() / 3;
  const std::size_t channels = inner / FakeEncoder::kHeads;
  std::vector<Row> out(qkv.size(), Row(inner, 0.0));
  for (std::size_t i = 0; i < qkv.size(); ++i) {
    for (std::size_t head = 0; head < inner; head += channels) {
      Row weights;
      double total = 0.0;
      for (const Row& other : qkv) {
        double score = 0.0;
        for (std::size_t c = head; c < head + channels; ++c)
          score += qkv[i][c] * other[inner + c];
        weights.push_back(std::exp(scale * score));
        total += weights.back();
      }
      for (std::size_t j = 0; j < qkv.size(); ++j)
        for (std::size_t c = head; c < head + channels; ++c)
          out[i][c] += weights[j] / total * qkv[j][2 * inner + c];
    }
  }
  return out;
}

/// The arrays of one layer, by the ends of their names.
struct PlainLayer {
  const FakeEncoder& fake;
  int index;

  const std::vector<float>& at(const std::string& ending) const {
    return fake.reals(ending, index);
  }
  Row dense(const Row& x, const std::string& kernel, const std::string& bias) const {
    return plain_dense(x, at(kernel), at(bias + "/ConcatPartitions/concat"));
  }
  Row norm(const Row& x, const std::string& place) const {
    const std::string name = place + "/layer_prepostprocess/layer_norm/layer_norm_";
    return plain_norm(x, at(name + "scale/ConcatPartitions/concat"),
                      at(name + "bias/ConcatPartitions/concat"));
  }
  Row residual(const Row& x) const {
    return index > 0 ? x : dense(x, "dense/kernel/ConcatPartitions/concat", "dense/bias");
  }

  void run(std::vector<Row>& xs) const {
    std::vector<Row> qkv;
    qkv.reserve(xs.size());
    for (const Row& x : xs)
      qkv.push_back(dense(norm(x, "TransformerLayer"), "qkv_transform_single/kernel/part_0",
                          "qkv_transform_single/bias"));
    const auto pooled = plain_attention(qkv, at("MultiheadAttention/mul/y")[0]);
    for (std::size_t i = 0; i < xs.size(); ++i) {
      Row y = dense(pooled[i], "output_transform_single/kernel/part_0",
                    "output_transform_single/bias");
      const Row kept = residual(xs[i]);
      for (std::size_t c = 0; c < y.size(); ++c) y[c] += kept[c];
      Row hidden = dense(norm(y, "FFN"), "conv1/Tensordot/Reshape_1", "conv1/bias");
      for (double& value : hidden) value = std::max(value, 0.0);
      const Row last = dense(hidden, "conv2/Tensordot/Reshape_1", "conv2/bias");
      for (std::size_t c = 0; c < y.size(); ++c) y[c] += last[c];
      xs[i] = y;
    }
  }
};

inline Row plain_encode(const FakeEncoder& fake, std::vector<std::int64_t> ids) {
  ids.resize(std::min<std::size_t>(ids.size(), FakeEncoder::kMost));
  const auto& table = fake.reals("Embeddings_en");
  const auto& frequencies = fake.reals("TimingSignal/ExpandDims_1");
  std::vector<Row> xs;
  for (std::size_t p = 0; p < ids.size(); ++p) {
    Row x;
    for (std::size_t c = 0; c < FakeEncoder::kFeatures; ++c) {
      const std::size_t half = frequencies.size();
      const double angle = static_cast<double>(p) * frequencies[c % half];
      x.push_back(2.0 * table[static_cast<std::size_t>(ids[p]) * FakeEncoder::kFeatures + c] +
                  (c < half ? std::sin(angle) : std::cos(angle)));
    }
    xs.push_back(x);
  }
  for (int i = 0; i < 2; ++i) PlainLayer{fake, i}.run(xs);
  Row mean(xs[0].size(), 0.0);
  for (const Row& x : xs)
    for (std::size_t c = 0; c < x.size(); ++c) mean[c] += x[c] / static_cast<double>(xs.size());
  Row out =
      plain_dense(mean, fake.reals("tanh_layer_0/weights"), fake.reals("tanh_layer_0/bias"));
  double square = 0.0;
  for (double& value : out) {
    value = std::tanh(value);
    square += value * value;
  }
  for (double& value : out) value /= std::sqrt(square);
  return out;
}

}  // namespace attn::tasks
