/// Similarities: how a query and a key become a number. These are the definitions, which the
/// reference runs pair by pair; the fast kernels must agree with them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <concepts>

#include "attn/core/macros.hpp"
#include "attn/core/math.hpp"

namespace attn::score {

/// score(q, k, channels, weights) and its gradients for one pair, ds being the score's:
/// backward() adds to dq [channels], dk [channels] and d_weights; each may be null.
template <class S>
concept SimilarityFunctor =
    requires(const double* q, const double* k, int channels, const double* weights, double ds,
             double* dq, double* dk, double* d_weights) {
      { S::score(q, k, channels, weights) } -> std::same_as<double>;
      S::backward(ds, q, k, channels, weights, dq, dk, d_weights);
    };

/// Adds where somebody wants it.
template <class T>
ATTN_FN void add_to(T* sums, int index, T term) {
  if (sums != nullptr) sums[index] += term;
}

/// s = q . k.
struct Dot {
  template <class T>
  ATTN_FN static T score(const T* q, const T* k, int channels, const T* = nullptr) {
    T sum = T(0);
    for (int c = 0; c < channels; ++c) sum += q[c] * k[c];
    return sum;
  }

  template <class T>
  ATTN_FN static void backward(T ds, const T* q, const T* k, int channels, const T*, T* dq,
                               T* dk, T* = nullptr) {
    for (int c = 0; c < channels; ++c) {
      add_to(dq, c, ds * k[c]);
      add_to(dk, c, ds * q[c]);
    }
  }
};

static_assert(SimilarityFunctor<Dot>);

/// What the difference of query and key is multiplied by.
enum class Width {
  none,     ///< 1
  scalar,   ///< weights[0]
  channel,  ///< weights[c]
};

/// s = -1/2 sum_c ((q_c - k_c) w_c)^2: under softmax, the kernel regression of Nadaraya, 1964,
/// and Watson, 1964. The difference is taken first, so q = k scores exactly 0 at any size.
template <Width kWidth>
struct Distance {
  template <class T>
  ATTN_FN static T score(const T* q, const T* k, int channels, const T* weights) {
    T sum = T(0);
    for (int c = 0; c < channels; ++c) {
      const T difference = (q[c] - k[c]) * width(weights, c);
      sum += difference * difference;
    }
    return T(-0.5) * sum;
  }

  template <class T>
  ATTN_FN static void backward(T ds, const T* q, const T* k, int channels, const T* weights,
                               T* dq, T* dk, T* d_weights) {
    for (int c = 0; c < channels; ++c) {
      const T difference = q[c] - k[c];
      const T w = width(weights, c);
      add_to(dq, c, -ds * difference * w * w);
      add_to(dk, c, ds * difference * w * w);
      if constexpr (kWidth != Width::none)
        add_to(d_weights, kWidth == Width::scalar ? 0 : c, -ds * difference * difference * w);
    }
  }

 private:
  template <class T>
  ATTN_FN static T width(const T* weights, int c) {
    if constexpr (kWidth == Width::none) return T(1);
    if constexpr (kWidth == Width::scalar) return weights[0];
    if constexpr (kWidth == Width::channel) return weights[c];
  }
};

static_assert(SimilarityFunctor<Distance<Width::none>>);
static_assert(SimilarityFunctor<Distance<Width::scalar>>);
static_assert(SimilarityFunctor<Distance<Width::channel>>);

/// s = sum_c w_c tanh(q_c + k_c), q and k being projected already.
/// Bahdanau, Cho and Bengio, 2015, arXiv:1409.0473.
struct Additive {
  template <class T>
  ATTN_FN static T score(const T* q, const T* k, int channels, const T* weights) {
    T sum = T(0);
    for (int c = 0; c < channels; ++c) sum += weights[c] * tanh(q[c] + k[c]);
    return sum;
  }

  template <class T>
  ATTN_FN static void backward(T ds, const T* q, const T* k, int channels, const T* weights,
                               T* dq, T* dk, T* d_weights) {
    for (int c = 0; c < channels; ++c) {
      const T t = tanh(q[c] + k[c]);
      const T inner = ds * weights[c] * (T(1) - t * t);
      add_to(dq, c, inner);
      add_to(dk, c, inner);
      add_to(d_weights, c, ds * t);
    }
  }
};

static_assert(SimilarityFunctor<Additive>);

/// s = q . k / (|q| |k|). A vector of norm <= kNoDirection has no direction: its scores are 0
/// and no gradient comes from them. Graves, Wayne and Danihelka, 2014, arXiv:1410.5401.
struct Cosine {
  static constexpr double kNoDirection = 1e-8;

  template <class T>
  ATTN_FN static T score(const T* q, const T* k, int channels, const T* = nullptr) {
    const T q_norm = sqrt(Dot::score(q, q, channels));
    const T k_norm = sqrt(Dot::score(k, k, channels));
    if (q_norm <= T(kNoDirection) || k_norm <= T(kNoDirection)) return T(0);
    return Dot::score(q, k, channels) / (q_norm * k_norm);
  }

  template <class T>
  ATTN_FN static void backward(T ds, const T* q, const T* k, int channels, const T*, T* dq,
                               T* dk, T* = nullptr) {
    const T q_norm = sqrt(Dot::score(q, q, channels));
    const T k_norm = sqrt(Dot::score(k, k, channels));
    if (q_norm <= T(kNoDirection) || k_norm <= T(kNoDirection)) return;
    const T cosine = Dot::score(q, k, channels) / (q_norm * k_norm);
    for (int c = 0; c < channels; ++c)
      backward_channel(ds, q[c], k[c], q_norm, k_norm, cosine, dq == nullptr ? dq : dq + c,
                       dk == nullptr ? dk : dk + c);
  }

  /// The same for one channel, the norms and the cosine of the whole vectors being known.
  template <class T>
  ATTN_FN static void backward_channel(T ds, T q, T k, T q_norm, T k_norm, T cosine, T* dq,
                                       T* dk) {
    if (q_norm <= T(kNoDirection) || k_norm <= T(kNoDirection)) return;
    add_to(dq, 0, ds * (k / k_norm - cosine * q / q_norm) / q_norm);
    add_to(dk, 0, ds * (q / q_norm - cosine * k / k_norm) / k_norm);
  }
};

static_assert(SimilarityFunctor<Cosine>);

/// s = q + k, one channel each: scores that split into a part of the query and one of the key.
struct Sum {
  template <class T>
  ATTN_FN static T score(const T* q, const T* k, int, const T* = nullptr) {
    return q[0] + k[0];
  }

  template <class T>
  ATTN_FN static void backward(T ds, const T*, const T*, int, const T*, T* dq, T* dk,
                               T* = nullptr) {
    add_to(dq, 0, ds);
    add_to(dk, 0, ds);
  }
};

static_assert(SimilarityFunctor<Sum>);

/// s = 0: the scores come from elsewhere, as a bias.
struct Given {
  template <class T>
  ATTN_FN static T score(const T*, const T*, int, const T* = nullptr) {
    return T(0);
  }

  template <class T>
  ATTN_FN static void backward(T, const T*, const T*, int, const T*, T*, T*, T* = nullptr) {}
};

static_assert(SimilarityFunctor<Given>);

}  // namespace attn::score
