// Ours: additive attention with its two projections, forward and backward.

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <memory>
#include <vector>

#include "attn/core/table.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/route.hpp"
#include "contender.hpp"
#include "data.hpp"
#include "isa/kernels.hpp"
#include "machine/instruction_sets.hpp"
#include "peers/attn.hpp"
#include "problem.hpp"
#include "team.hpp"

namespace attn::bench {
namespace {

class Additive {
 public:
  Additive(const Problem& problem, const Data& data, const Setting& setting)
      : p_(problem),
        data_(data),
        kernels_(instruction_set(setting.set)),
        context_(context_of(setting)),
        team_(setting.threads),
        out_(data.q.size()),
        stat_(p_.batch * p_.queries) {
    recipe_.similarity = Similarity::additive;
    recipe_.weights = table<float>(data.weight.data(), {1, 1, 1, p_.dim});
    if (p_.pass == Pass::forward) return;
    dq_ = Buffer(data.q.size());
    dk_ = Buffer(data.k.size());
    dv_ = Buffer(data.v.size());
    dwq_ = Buffer(p_.dim * p_.dim);
    dwk_ = Buffer(p_.dim * p_.dim);
    dw_ = Buffer(p_.dim);
  }

  void call() {
    reserve();
    forward();
    if (p_.pass != Pass::forward) backward();
  }

  Witness witness() const {
    const auto all = [](const Buffer& x) {
      return std::vector<float>(x.data(), x.data() + x.size());
    };
    Witness witness{{"out", all(out_)}};
    if (p_.pass == Pass::forward) return witness;
    witness["dq"] = all(dq_);
    witness["dk"] = all(dk_);
    witness["dv"] = all(dv_);
    witness["dwq"] = all(dwq_);
    witness["dwk"] = all(dwk_);
    witness["dw"] = all(dw_);
    return witness;
  }

 private:
  /// Projected queries and keys and their gradients are memory beyond the caller's, so they are
  /// taken inside the first call, where they are counted.
  void reserve() {
    if (q_.size() > 0) return;
    q_ = Buffer(data_.q.size());
    k_ = Buffer(data_.k.size());
    workspace_ = Buffer(team_.size() * kernels_.product_workspace());
    if (p_.pass == Pass::forward) return;
    projected_dq_ = Buffer(data_.q.size());
    projected_dk_ = Buffer(data_.k.size());
    if (keeps_similarities({.recipe = &recipe_,
                            .queries = p_.queries,
                            .keys = p_.keys,
                            .channels = p_.dim,
                            .taped = true}))
      similarities_ = Buffer(p_.batch * p_.queries * p_.keys);
  }

  /// c [m, n] = a b, rows of c shared out.
  void product(std::int64_t m, std::int64_t n, std::int64_t k, Matrix a, Matrix b, float* c) {
    team_.run([&](int rank) {
      const std::int64_t begin = m * rank / team_.size();
      const std::int64_t rows = m * (rank + 1) / team_.size() - begin;
      kernels_.product({rows,
                        n,
                        k,
                        {a.data + begin * a.row, a.row, a.column},
                        b,
                        c + begin * n,
                        n,
                        1.0f,
                        false},
                       workspace_.data() + rank * kernels_.product_workspace());
    });
  }

  template <class T>
  View<T, 4> similarities() const {
    if (similarities_.size() == 0) return {};
    return packed<T>(similarities_.data(), p_.batch, 1, p_.queries, p_.keys);
  }
  template <class T>
  View<T, 4> queries(const Buffer& buffer) const {
    return packed<T>(buffer.data(), p_.batch, 1, p_.queries, p_.dim);
  }
  template <class T>
  View<T, 4> keys(const Buffer& buffer) const {
    return packed<T>(buffer.data(), p_.batch, 1, p_.keys, p_.dim);
  }

  void forward() {
    const std::int64_t d = p_.dim;
    product(p_.batch * p_.queries, d, d, {data_.q.data(), d, 1},
            {data_.query_projection.data(), d, 1}, q_.data());
    product(p_.batch * p_.keys, d, d, {data_.k.data(), d, 1},
            {data_.key_projection.data(), d, 1}, k_.data());
    ForwardArgs<float> args{.q = queries<const float>(q_),
                            .k = keys<const float>(k_),
                            .v = keys<const float>(data_.v),
                            .out = queries<float>(out_)};
    if (p_.pass != Pass::forward) {
      args.stat = packed<float>(stat_.data(), p_.batch, 1, p_.queries);
      args.similarities = similarities<float>();
    }
    cpu::forward(args, recipe_, context_);
  }

  void backward() {
    const BackwardArgs<float> args{
        .q = queries<const float>(q_),
        .k = keys<const float>(k_),
        .v = keys<const float>(data_.v),
        .out = queries<const float>(out_),
        .stat = packed<const float>(stat_.data(), p_.batch, 1, p_.queries),
        .d_out = queries<const float>(data_.grad_out),
        .dq = queries<float>(projected_dq_),
        .dk = keys<float>(projected_dk_),
        .dv = keys<float>(dv_),
        .similarities = similarities<const float>()};
    RecipeGrads grads;
    grads.weights = table_grad<float>(dw_.data(), {1, 1, 1, p_.dim});
    cpu::backward(args, recipe_, grads, context_);

    const std::int64_t d = p_.dim;
    const std::int64_t query_rows = p_.batch * p_.queries, key_rows = p_.batch * p_.keys;
    product(query_rows, d, d, {projected_dq_.data(), d, 1},
            {data_.query_projection.data(), 1, d}, dq_.data());
    product(key_rows, d, d, {projected_dk_.data(), d, 1}, {data_.key_projection.data(), 1, d},
            dk_.data());
    product(d, d, query_rows, {data_.q.data(), 1, d}, {projected_dq_.data(), d, 1},
            dwq_.data());
    product(d, d, key_rows, {data_.k.data(), 1, d}, {projected_dk_.data(), d, 1}, dwk_.data());
  }

  Problem p_;
  const Data& data_;
  const Kernels& kernels_;
  cpu::Context context_;
  Recipe recipe_;
  Team team_;
  Buffer out_, stat_, dq_, dk_, dv_, dwq_, dwk_, dw_;
  Buffer q_, k_, projected_dq_, projected_dk_, similarities_, workspace_;
};

}  // namespace

std::unique_ptr<Contender> enter_additive(const Problem& problem, const Data& data,
                                          const Setting& setting) {
  auto work = std::make_shared<Additive>(problem, data, setting);
  return std::make_unique<LocalContender>(
      setting.threads, [work] { work->call(); }, [work] { return work->witness(); });
}

}  // namespace attn::bench
