/// Decoding on the GPU, in bf16: name, milliseconds and bytes of keys and values a second.

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "attn/kernels/gpu/functor/decode.cuh"
#include "attn/mask/none.hpp"
#include "attn/normalise/softmax.hpp"
#include "attn/score/chain.hpp"
#include "gpu/decode_timer.cuh"

namespace attn::bench {
namespace {

struct Shape {
  std::int64_t batch, kv_heads, group, keys, channels;
};

void time_decode(Timer& timer, const Shape& s) {
  const auto kv = static_cast<std::size_t>(s.batch * s.kv_heads * s.keys * s.channels);
  const auto rows = static_cast<std::size_t>(s.batch * s.kv_heads * s.group * s.channels);
  const Buffer<BFloat16> q(rows), k(kv), v(kv), out(rows);
  fill(q, rows, 1);
  fill(k, kv, 2);
  fill(v, kv, 3);
  const std::int64_t heads = s.kv_heads * s.group;
  const ForwardArgs<BFloat16> args{
      .q = packed<const BFloat16>(q.get(), s.batch, heads, 1, s.channels),
      .k = packed<const BFloat16>(k.get(), s.batch, s.kv_heads, s.keys, s.channels),
      .v = packed<const BFloat16>(v.get(), s.batch, s.kv_heads, s.keys, s.channels),
      .out = packed<BFloat16>(out.get(), s.batch, heads, 1, s.channels)};
  const Buffer<unsigned char> workspace(gpu::decode_workspace_bytes(args));
  const gpu::Stages<score::Chain<>, mask::None, normalise::Softmax> stages{.scale = 0.088388f};
  const double ms = timer.median([&] { gpu::decode(args, stages, workspace.get(), nullptr); });
  const double bytes = 2.0 * 2.0 * static_cast<double>(kv);
  std::printf("decode/b:%lld/h:%lld/g:%lld/m:%lld/d:%lld\t%.4f\t%.2f TB/s\n",
              static_cast<long long>(s.batch), static_cast<long long>(s.kv_heads),
              static_cast<long long>(s.group), static_cast<long long>(s.keys),
              static_cast<long long>(s.channels), ms, bytes / ms * 1e-9);
}

}  // namespace
}  // namespace attn::bench

int main() {
  attn::bench::Timer timer;
  for (const attn::bench::Shape& shape :
       {attn::bench::Shape{16, 32, 1, 8192, 128}, attn::bench::Shape{1, 32, 1, 65536, 128},
        attn::bench::Shape{16, 8, 4, 8192, 128}, attn::bench::Shape{16, 8, 8, 8192, 128},
        attn::bench::Shape{16, 32, 1, 8192, 64}})
    attn::bench::time_decode(timer, shape);
}
