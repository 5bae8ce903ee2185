/// Every op on tensors.

#pragma once

// SPDX-License-Identifier: Apache-2.0

// IWYU pragma: begin_exports
#include "attn/tensor/ops/attention_decoder.hpp"
#include "attn/tensor/ops/conv.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/linear_attention.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/merge.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/ops/rnn.hpp"
#include "attn/tensor/ops/rotary.hpp"
// IWYU pragma: end_exports
