/// Times of words from cross-attention: the weights of some heads become one path through words
/// and frames that never goes back.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <span>
#include <vector>

#include "attn/maps/map.hpp"
#include "attn/tensor/tensor.hpp"

namespace attn::tasks {

/// The path of the largest sum from the first row and column to the last ones that goes a row
/// down, a column on or both at each step; of each row its first column. Sakoe and Chiba, 1978
/// (dynamic time warping).
std::vector<std::size_t> monotone_path(const maps::Matrix& gains);

/// Each number becomes the median of the `width` (odd) numbers around it in its row; the ends
/// are mirrored.
maps::Matrix median_filtered(const maps::Matrix& matrix, std::size_t width);

/// How well a head tells where words are: the mean weight, over the rows, that lies on its own
/// best path or within `near` columns of it.
double sharpness(const maps::Matrix& weights, std::size_t near = 2);

/// The heads that are sharpest, at most `count`: of each layer [heads, rows, frames]; their
/// weights, each number less the mean of its column and over the deviation of it, filtered, and
/// averaged over the heads.
maps::Matrix alignment_gains(std::span<const Tensor> layers, std::size_t count = 6);

/// The mean of the same heads' weights as they are, [rows, frames].
maps::Matrix alignment_weights(std::span<const Tensor> layers, std::size_t count = 6);

}  // namespace attn::tasks
