/// The GPU of this process: whether there is one that the kernels run on, and its name.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "attn/core/cxx20.hpp"  // IWYU pragma: keep

struct CUstream_st;

namespace attn::gpu {

/// cudaStream_t under a name that needs no CUDA header.
using Stream = CUstream_st*;

/// Whether the same call must give the same bits.
enum class Determinism {
  fast,        ///< dQ and gradients of tables are added in any order
  repeatable,  ///< one block of keys after the other; gradients of tables are not served
};

/// Whether the library was built with CUDA and the current device can run its kernels
/// (compute capability 8.0 and later). Never throws.
bool available();

/// What kernels are chosen by: 90 for a Hopper that runs this build's code for it, else the
/// compute capability of a device that does not; and the shared memory of a block. Without a
/// GPU that of an H200.
struct Capability {
  int version = 90;
  int shared_bytes = 232448;
};
Capability capability();

/// "NVIDIA H200, compute capability 9.0, 132 multiprocessors, 140 GiB", or why there is none.
std::string describe();

}  // namespace attn::gpu
