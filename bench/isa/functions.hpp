/// The functions behind one Kernels table, declared in the namespace of the instruction set.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>

#include "isa/kernels.hpp"

namespace attn::bench::ATTN_TARGET {

double multiply_add(std::int64_t rounds, float* sink);
float sum(const float* data, std::int64_t size);
void triad(float* a, const float* b, const float* c, float s, std::int64_t size);
std::int64_t product_workspace();
void product(const Product& product, float* workspace);
void softmax(float* row, std::int64_t count);
void softmax_backward(float* grad, const float* weights, float scale, std::int64_t count);

}  // namespace attn::bench::ATTN_TARGET
