/// Additive attention on the GPU, in fp32: name and milliseconds, projections not included.

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "attn/kernels/gpu/functor/additive.cuh"
#include "attn/mask/none.hpp"
#include "attn/normalise/softmax.hpp"
#include "attn/score/chain.hpp"
#include "gpu/decode_timer.cuh"

namespace attn::bench {
namespace {

struct Shape {
  std::int64_t batch, queries, keys, channels;
};

void time_additive(Timer& timer, const Shape& s) {
  const auto q_count = static_cast<std::size_t>(s.batch * s.queries * s.channels);
  const auto k_count = static_cast<std::size_t>(s.batch * s.keys * s.channels);
  const Buffer<float> q(q_count), k(k_count), v(k_count), out(q_count), d_out(q_count);
  const Buffer<float> dq(q_count), dk(k_count), dv(k_count);
  const auto channels = static_cast<std::size_t>(s.channels);
  const Buffer<float> w(channels), dw(channels);
  const Buffer<float> stat(static_cast<std::size_t>(s.batch * s.queries));
  fill(q, q_count, 1);
  fill(k, k_count, 2);
  fill(v, k_count, 3);
  fill(d_out, q_count, 4);
  fill(w, channels, 5);
  const ForwardArgs<float> forward{
      .q = packed<const float>(q.get(), s.batch, 1, s.queries, s.channels),
      .k = packed<const float>(k.get(), s.batch, 1, s.keys, s.channels),
      .v = packed<const float>(v.get(), s.batch, 1, s.keys, s.channels),
      .out = packed<float>(out.get(), s.batch, 1, s.queries, s.channels),
      .stat = packed<float>(stat.get(), s.batch, 1, s.queries)};
  const BackwardArgs<float> backward{
      .q = forward.q,
      .k = forward.k,
      .v = forward.v,
      .out = forward.out,
      .stat = forward.stat,
      .d_out = packed<const float>(d_out.get(), s.batch, 1, s.queries, s.channels),
      .dq = packed<float>(dq.get(), s.batch, 1, s.queries, s.channels),
      .dk = packed<float>(dk.get(), s.batch, 1, s.keys, s.channels),
      .dv = packed<float>(dv.get(), s.batch, 1, s.keys, s.channels)};
  const std::size_t workspace_bytes = gpu::additive_workspace_bytes(forward);
  const Buffer<unsigned char> workspace(workspace_bytes);
  const gpu::Stages<score::Chain<>, mask::None, normalise::Softmax> stages;
  const Table weights = table(w.get(), {1, 1, 1, s.channels});
  const TableGrad d_weights = table_grad(dw.get(), {1, 1, 1, s.channels});
  const double ms = timer.median(
      [&] { gpu::additive_forward(forward, weights, stages, workspace.get(), nullptr); });
  const double both = timer.median([&] {
    gpu::additive_forward(forward, weights, stages, workspace.get(), nullptr);
    gpu::additive_backward(backward, weights, stages, d_weights, nullptr);
  });
  const double units =
      static_cast<double>(s.batch * s.queries * s.keys) * static_cast<double>(s.channels);
  const auto print = [&](const char* what, double time) {
    std::printf("%s/b:%lld/n:%lld/m:%lld/d:%lld\t%.4f\t%.2f T tanh/s, workspace %.1f MB\n",
                what, static_cast<long long>(s.batch), static_cast<long long>(s.queries),
                static_cast<long long>(s.keys), static_cast<long long>(s.channels), time,
                units / time * 1e-9, static_cast<double>(workspace_bytes) * 1e-6);
  };
  print("additive_forward", ms);
  print("additive_both", both);
}

}  // namespace
}  // namespace attn::bench

int main() {
  attn::bench::Timer timer;
  attn::bench::time_additive(timer, {8, 128, 512, 256});
  attn::bench::time_additive(timer, {4, 1024, 1024, 256});
}
