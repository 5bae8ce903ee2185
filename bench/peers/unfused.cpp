// Attention as the formula reads: all scores, softmax, product. An honest opponent: its matrix
// product runs near the machine's limit, a thread works on one head at a time, and the backward
// takes the weights that the forward left in memory instead of computing them again.

// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
#include <memory>

#include "contender.hpp"
#include "data.hpp"
#include "isa/kernels.hpp"
#include "machine/instruction_sets.hpp"
#include "peers/peers.hpp"
#include "problem.hpp"
#include "team.hpp"

namespace attn::bench {
namespace {

class Unfused {
 public:
  Unfused(const Problem& problem, const Data& data, const Setting& setting)
      : p_(problem),
        data_(data),
        kernels_(instruction_set(setting.set)),
        team_(setting.threads) {
    out_ = Buffer(data.q.size());
    if (p_.pass == Pass::forward) return;
    dq_ = Buffer(data.q.size());
    dk_ = Buffer(data.k.size());
    dv_ = Buffer(data.v.size());
    if (p_.pass == Pass::backward) {
      reserve();
      forward();
    }
  }

  void call() {
    reserve();
    if (p_.pass != Pass::backward) forward();
    if (p_.pass != Pass::forward) backward();
  }

  Witness witness() const {
    const std::int64_t heads = p_.batch * p_.heads;
    Witness witness;
    if (p_.pass != Pass::backward) witness["out"] = last_head(out_, heads);
    if (p_.pass != Pass::forward) {
      witness["dq"] = last_head(dq_, heads);
      witness["dk"] = last_head(dk_, heads);
      witness["dv"] = last_head(dv_, heads);
    }
    return witness;
  }

 private:
  /// Memory that is neither input nor output, taken inside the first call so that it is
  /// counted. The forward alone needs one score matrix a thread, the backward all of them.
  void reserve() {
    if (weights_.size() > 0) return;
    const std::int64_t threads = team_.size();
    const std::int64_t matrices = p_.pass == Pass::forward ? threads : p_.batch * p_.heads;
    weights_ = Buffer(matrices * p_.queries * p_.keys);
    if (p_.pass != Pass::forward) grad_weights_ = Buffer(threads * p_.queries * p_.keys);
    workspace_ = Buffer(threads * kernels_.product_workspace());
  }

  float* weights_of(int rank, std::int64_t head) const {
    const std::int64_t index = p_.pass == Pass::forward ? rank : head;
    return weights_.data() + index * p_.queries * p_.keys;
  }

  void product(int rank, std::int64_t m, std::int64_t n, std::int64_t k, Matrix a, Matrix b,
               float* c, float alpha = 1.0f) const {
    kernels_.product({m, n, k, a, b, c, n, alpha, false},
                     workspace_.data() + rank * kernels_.product_workspace());
  }

  void forward() {
    const std::int64_t n = p_.queries, m = p_.keys, d = p_.dim;
    const float scale = 1.0f / std::sqrt(static_cast<float>(d));
    team_.split(p_.batch * p_.heads, [&](int rank, std::int64_t head) {
      float* weights = weights_of(rank, head);
      product(rank, n, m, d, {data_.q.data() + head * n * d, d, 1},
              {data_.k.data() + head * m * d, 1, d}, weights, scale);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto [first, last] = kept(p_, i);
        float* row = weights + i * m;
        for (std::int64_t j = 0; j < first; ++j) row[j] = 0.0f;
        for (std::int64_t j = last; j < m; ++j) row[j] = 0.0f;
        kernels_.softmax(row + first, last - first);
      }
      product(rank, n, d, m, {weights, m, 1}, {data_.v.data() + head * m * d, d, 1},
              out_.data() + head * n * d);
    });
  }

  void backward() {
    const std::int64_t n = p_.queries, m = p_.keys, d = p_.dim;
    const float scale = 1.0f / std::sqrt(static_cast<float>(d));
    team_.split(p_.batch * p_.heads, [&](int rank, std::int64_t head) {
      const float* weights = weights_of(rank, head);
      float* grad = grad_weights_.data() + rank * n * m;
      const float* grad_out = data_.grad_out.data() + head * n * d;
      product(rank, m, d, n, {weights, 1, m}, {grad_out, d, 1}, dv_.data() + head * m * d);
      product(rank, n, m, d, {grad_out, d, 1}, {data_.v.data() + head * m * d, 1, d}, grad);
      for (std::int64_t i = 0; i < n; ++i) {
        kernels_.softmax_backward(grad + i * m, weights + i * m, scale, m);
      }
      product(rank, n, d, m, {grad, m, 1}, {data_.k.data() + head * m * d, d, 1},
              dq_.data() + head * n * d);
      product(rank, m, d, n, {grad, 1, m}, {data_.q.data() + head * n * d, d, 1},
              dk_.data() + head * m * d);
    });
  }

  Problem p_;
  const Data& data_;
  const Kernels& kernels_;
  Team team_;
  Buffer out_, dq_, dk_, dv_;
  Buffer weights_, grad_weights_, workspace_;
};

}  // namespace

Peer unfused_peer() {
  Peer peer;
  peer.name = "unfused";
  peer.about = "the same formula with the score matrix in memory, products in Highway";
  peer.serves = [](const Problem& problem) { return problem.family == Family::dot; };
  peer.enter = [](const Problem& problem, const Data& data, const Setting& setting) {
    auto work = std::make_shared<Unfused>(problem, data, setting);
    return std::make_unique<LocalContender>(
        setting.threads, [work] { work->call(); }, [work] { return work->witness(); });
  };
  peer.once = [](const Problem& problem, const Setting& setting, Check check) {
    return once_in_child("unfused", problem, setting, check);
  };
  return peer;
}

}  // namespace attn::bench
