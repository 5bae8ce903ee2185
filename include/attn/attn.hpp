/// The library in one include: tensors, ops, attention on specs, random numbers, modules of
/// general use, optimisers and saved state. Mechanisms have a header each, as `attn mechanisms
/// NAME` prints; the kernels on plain memory are attn/kernels/cpu/attention.hpp.

#pragma once

// SPDX-License-Identifier: Apache-2.0

// IWYU pragma: begin_exports
#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/safetensors.hpp"
#include "attn/nn/attention/kv_cache.hpp"
#include "attn/nn/attention/multi_head_attention.hpp"
#include "attn/nn/attention/torch_multihead_attention.hpp"
#include "attn/nn/conv.hpp"
#include "attn/nn/dropout.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/layer_norm.hpp"
#include "attn/nn/linear.hpp"
#include "attn/nn/module.hpp"
#include "attn/nn/optimiser.hpp"
#include "attn/nn/recurrent.hpp"
#include "attn/nn/schedule.hpp"
#include "attn/nn/state.hpp"
#include "attn/nn/transformer/torch_layers.hpp"
#include "attn/score/chain.hpp"
#include "attn/score/lambda.hpp"
#include "attn/tensor/attend.hpp"
#include "attn/tensor/dlpack.hpp"
#include "attn/tensor/from_array.hpp"
#include "attn/tensor/ops.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/spec/functor.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
// IWYU pragma: end_exports
