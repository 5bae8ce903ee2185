/// The GPU as tensors use it: whose work comes after whose, waiting for it, and whether results
/// must repeat.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/gemm/gpu.hpp"            // IWYU pragma: export
#include "attn/kernels/gpu/device.hpp"  // IWYU pragma: export

namespace attn::gpu {

/// The stream on which this thread's ops run, one after the other. Another thread has another
/// one: hand it a tensor after synchronise(). Throws Unsupported in a build without CUDA.
Stream stream();

/// Waits for the work of this thread. Throws InvalidArgument if an op met an index or a class
/// that does not exist, which only the GPU could see: such an op reads or adds nothing there.
/// Reading numbers (item, to_vector, to(Device::cpu)) waits too.
void synchronise();

/// What attention's gradients do on this thread; fast unless chosen. All other ops of tensors
/// give the same bits each time.
void set_determinism(Determinism determinism);
Determinism determinism();

/// How products of f32 are made on this thread: in f32, or, where it is asked for, of operands
/// rounded to TF32's 10 bits, whose sums run in f32.
using gemm::Products;
void set_products(Products products);
Products products();

}  // namespace attn::gpu
