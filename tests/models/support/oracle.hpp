/// A model whose beliefs are a plain function of source and prefix, to search in.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "attn/models/seq2seq.hpp"
#include "attn/tensor/tensor.hpp"
#include "models/support/batches.hpp"

namespace attn::test {

/// log P of every word after `prefix`, which begins with kBos.
using Belief = std::function<std::vector<float>(std::int64_t source, const Tokens& prefix)>;

/// `logits` as log-probabilities.
inline std::vector<float> normalised(std::vector<float> logits) {
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit));
  for (float& logit : logits) logit -= static_cast<float>(std::log(sum));
  return logits;
}

/// Logits in (-2, 2) that look random: a hash of everything.
inline std::vector<float> hashed_belief(std::int64_t source, const Tokens& prefix,
                                        std::size_t words) {
  std::vector<float> logits;
  for (std::size_t word = 0; word < words; ++word) {
    std::uint64_t hash = 0xcbf29ce484222325u ^ static_cast<std::uint64_t>(source);
    Tokens all = prefix;
    all.push_back(static_cast<std::int64_t>(word));
    for (const std::int64_t token : all) {
      hash = (hash ^ static_cast<std::uint64_t>(token + 1)) * 0x100000001b3u;
      hash ^= hash >> 29;
    }
    logits.push_back(static_cast<float>(hash % 4001) / 1000.0f - 2.0f);
  }
  return normalised(logits);
}

/// A source is known by its first word. There is no loss and no attention.
class Oracle : public models::Seq2Seq {
 public:
  explicit Oracle(Belief belief) : belief_(std::move(belief)) {}

  Tensor loss(const models::Batch&, const models::LossOptions&) const override { return {}; }

  std::unique_ptr<models::Decoding> decode(const Tensor& source, const Tensor&) const override {
    auto under_way = std::make_unique<UnderWay>(belief_);
    for (std::int64_t row = 0; row < source.size(0); ++row)
      under_way->rows.push_back(
          {static_cast<std::int64_t>(source.select(0, row).select(0, 0).item()), {}});
    return under_way;
  }

 private:
  struct Row {
    std::int64_t source;
    Tokens prefix;
  };
  struct UnderWay final : models::Decoding {
    explicit UnderWay(const Belief& given) : belief(given) {}

    models::Prediction step(const Tensor& tokens) override {
      const auto read = tokens.to_vector<std::int64_t>();
      std::vector<float> all;
      for (std::size_t row = 0; row < rows.size(); ++row) {
        rows[row].prefix.push_back(read[row]);
        const auto next = belief(rows[row].source, rows[row].prefix);
        all.insert(all.end(), next.begin(), next.end());
      }
      const auto count = static_cast<std::int64_t>(rows.size());
      return {Tensor::from(all, {count, static_cast<std::int64_t>(all.size()) / count}), {}};
    }
    void select(const Tensor& chosen) override {
      std::vector<Row> after;
      for (const std::int64_t row : chosen.to_vector<std::int64_t>())
        after.push_back(rows[static_cast<std::size_t>(row)]);
      rows = after;
    }

    const Belief& belief;
    std::vector<Row> rows;
  };

  Belief belief_;
};

}  // namespace attn::test
