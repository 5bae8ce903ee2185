/// Barriers in shared memory and the copies of Hopper's tensor memory accelerator (TMA) that
/// arrive at them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cuda.h>

#include <cstdint>

namespace attn::gpu::hopper {

__device__ __forceinline__ std::uint32_t shared_address(const void* at) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}

/// A phase ends once `count` arrivals came and all bytes that were expected; phases are told
/// apart by their parity.
struct Barrier {
  std::uint64_t word;

  __device__ __forceinline__ void start(int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)),
                 "r"(count)
                 : "memory");
  }
  __device__ __forceinline__ void expect(int bytes) {
    asm volatile(
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(shared_address(this)),
        "r"(bytes)
        : "memory");
  }
  __device__ __forceinline__ void arrive() {
    asm volatile("{\n.reg .b64 state;\nmbarrier.arrive.shared::cta.b64 state, [%0];\n}" ::"r"(
                     shared_address(this))
                 : "memory");
  }
  __device__ __forceinline__ void wait(int parity) {
    std::uint32_t over = 0;
    while (over == 0) {
      asm volatile(
          "{\n.reg .pred over;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 over, [%1], %2;\n"
          "selp.u32 %0, 1, 0, over;\n}"
          : "=r"(over)
          : "r"(shared_address(this)), "r"(parity)
          : "memory");
    }
  }
};

/// One arrival for a warp, all of whose lanes come here.
__device__ __forceinline__ void leave(Barrier& barrier) {
  __syncwarp();
  if ((threadIdx.x & 31) == 0) barrier.arrive();
}

/// Barriers that were started are seen by the TMA.
__device__ __forceinline__ void fence_started_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// What this thread wrote to shared memory is seen by the matrix units.
__device__ __forceinline__ void fence_for_matrix_units() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
/// From here on this warpgroup has that many registers a thread: what the launch gave each is
/// too few for those who multiply and too many for those who fetch.
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
/// Waits for kThreads threads at named barrier `id`.
template <int kThreads>
__device__ __forceinline__ void wait_for_each_other(int id) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(kThreads) : "memory");
}

/// The box of a map [batch, head, position, channel] that begins at `channel` and `position`.
__device__ __forceinline__ void copy_box(void* to, const CUtensorMap& map, int channel,
                                         int position, int head, int batch, Barrier& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(to)),
      "l"(reinterpret_cast<std::uint64_t>(&map)), "r"(channel), "r"(position), "r"(head),
      "r"(batch), "r"(shared_address(&barrier))
      : "memory");
}

}  // namespace attn::gpu::hopper
