/// Takes rows of weights apart, as an Inspection asks.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/view.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/stage.hpp"

namespace attn {

/// Takes one row of weights apart.
template <class S>
class RowReader {
 public:
  RowReader(const Inspection<S>& wanted, std::int64_t keys) : wanted_(wanted) {
    order_.reserve(static_cast<std::size_t>(keys));
  }

  void read(const TilePlace& at, int row, const S* w) {
    const int q = at.q + row;
    if (wanted_.all.data != nullptr)
      for (int j = 0; j < at.cols; ++j) *wanted_.all.at(at.batch, at.head, q, j) = w[j];
    if (wanted_.chosen.data != nullptr) read_chosen(at, q, w);
    if (wanted_.column_sums.data != nullptr)
      for (int j = 0; j < at.cols; ++j) *wanted_.column_sums.at(at.batch, at.head, j) += w[j];
    if (wanted_.distance_sums.data != nullptr) read_distances(at, q, w);
    if (wanted_.arg_max.data != nullptr) {
      int best = -1;
      for (int j = 0; j < at.cols; ++j)
        if (w[j] > S(0) && (best < 0 || w[j] > w[best])) best = j;
      *wanted_.arg_max.at(at.batch, at.head, q) = best;
    }
    if (wanted_.top_keys.data != nullptr || wanted_.top_weights.data != nullptr)
      read_top(at, q, w);
  }

  /// Sums begin with 0.
  static void clear_sums(const Inspection<S>& wanted) {
    const View<S, 3>& columns = wanted.column_sums;
    const View<S, 4>& distances = wanted.distance_sums;
    for_rows(columns, [&](auto... row) { *columns.at(row...) = S(0); });
    for_rows(distances, [&](auto... row) {
      for (std::int64_t c = 0; c < distances.shape[3]; ++c) *distances.at(row..., c) = S(0);
    });
  }

 private:
  /// visit(i, j, k) for the first three axes of a view that has data.
  template <class V, class Visit>
  static void for_rows(const V& view, const Visit& visit) {
    if (view.data == nullptr) return;
    for (std::int64_t i = 0; i < view.shape[0]; ++i)
      for (std::int64_t j = 0; j < view.shape[1]; ++j)
        for (std::int64_t k = 0; k < view.shape[2]; ++k) visit(i, j, k);
  }
  void read_chosen(const TilePlace& at, int q, const S* w) const {
    for (std::size_t h = 0; h < wanted_.chosen_heads.size(); ++h)
      for (std::size_t i = 0; i < wanted_.chosen_queries.size(); ++i)
        if (wanted_.chosen_heads[h] == at.head && wanted_.chosen_queries[i] == q)
          for (int j = 0; j < at.cols; ++j) *wanted_.chosen.at(at.batch, h, i, j) = w[j];
  }

  void read_distances(const TilePlace& at, int q, const S* w) const {
    const int reach = static_cast<int>(wanted_.distance_sums.shape[3] / 2);
    for (int j = 0; j < at.cols; ++j) {
      const int apart = std::clamp(j - (q + wanted_.distance_offset), -reach, reach);
      *wanted_.distance_sums.at(at.batch, at.head, q, apart + reach) += w[j];
    }
  }

  void read_top(const TilePlace& at, int q, const S* w) {
    const bool keys = wanted_.top_keys.data != nullptr;
    const auto count = static_cast<std::size_t>(keys ? wanted_.top_keys.shape[3]
                                                     : wanted_.top_weights.shape[3]);
    order_.clear();
    for (int j = 0; j < at.cols; ++j)
      if (w[j] > S(0)) order_.push_back(j);
    const std::size_t found = std::min(count, order_.size());
    std::partial_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(found),
                      order_.end(),
                      [&](int a, int b) { return w[a] > w[b] || (w[a] == w[b] && a < b); });
    for (std::size_t i = 0; i < count; ++i) {
      if (keys) *wanted_.top_keys.at(at.batch, at.head, q, i) = i < found ? order_[i] : -1;
      if (wanted_.top_weights.data != nullptr)
        *wanted_.top_weights.at(at.batch, at.head, q, i) = i < found ? w[order_[i]] : S(0);
    }
  }

  const Inspection<S>& wanted_;
  std::vector<int> order_;  ///< keys with a weight, to be sorted
};

}  // namespace attn
