/// The algebra of one chunk of linear attention: decays between its steps, scores under them,
/// and the triangular systems of the delta rule.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "attn/gemm/gemm.hpp"

namespace attn::cpu {

/// A matrix by rows: element (i, j) is data[i * stride + j].
template <class T>
struct Rows {
  T* data = nullptr;
  std::int64_t stride = 0;

  T* operator[](std::int64_t i) const { return data + i * stride; }
  Rows from(std::int64_t i, std::int64_t j = 0) const { return {(*this)[i] + j, stride}; }
  operator Rows<const T>() const  // NOLINT(google-explicit-constructor)
    requires(!std::is_const_v<T>)
  {
    return {data, stride};
  }
};

/// An operand of a product.
template <class T>
struct Operand {
  Operand(Rows<T> rows) : matrix(rows) {}        // NOLINT(google-explicit-constructor)
  Operand(Rows<const T> rows) : matrix(rows) {}  // NOLINT(google-explicit-constructor)

  Rows<const T> matrix;
  gemm::Transpose transpose = gemm::Transpose::no;
};

template <class T>
Operand<std::remove_const_t<T>> transposed(Rows<T> rows) {
  Operand<std::remove_const_t<T>> operand(rows);
  operand.transpose = gemm::Transpose::yes;
  return operand;
}

/// Sizes of a product: C [m, n], k terms a sum.
struct Extents {
  std::int64_t m, n, k;
};
enum class Onto { nothing, sum };

/// Steps that are too few for a product of matrices to be faster than plain sums.
inline constexpr std::int64_t kPiece = 8;

/// C = A B, or C += A B, on this thread.
template <class T>
void multiply(const Extents& size, const Operand<T>& a, const Operand<T>& b, Rows<T> c,
              Onto onto = Onto::nothing) {
  gemm::product(gemm::Args<T>{.m = size.m,
                              .n = size.n,
                              .k = size.k,
                              .a = a.matrix.data,
                              .lda = a.matrix.stride,
                              .transpose_a = a.transpose,
                              .b = b.matrix.data,
                              .ldb = b.matrix.stride,
                              .transpose_b = b.transpose,
                              .c = c.data,
                              .ldc = c.stride,
                              .beta = T(onto == Onto::sum)},
                static_cast<const T*>(nullptr), 1);
}

/// How the steps of a chunk decay, as products of e^decay: no exponential of a sum is taken,
/// which might overflow, nor one of a difference of sums, which would cancel. `width` is 0
/// without a decay, 1 where channels share it, else the channels.
template <class T>
struct ChunkDecay {
  std::int64_t width = 0;
  Rows<T> step;        ///< [steps, width]: e^decay
  Rows<T> from_start;  ///< what is left at t of the state before the chunk
  Rows<T> to_end;      ///< what is left of step t after the chunk

  void fill(const T* decay, std::int64_t steps) const {
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::int64_t c = 0; c < width; ++c) {
        step[t][c] = std::exp(decay[t * width + c]);
        from_start[t][c] = t == 0 ? step[t][c] : from_start[t - 1][c] * step[t][c];
      }
    for (std::int64_t t = steps; t-- > 0;)
      for (std::int64_t c = 0; c < width; ++c)
        to_end[t][c] = t + 1 == steps ? T(1) : to_end[t + 1][c] * step[t + 1][c];
  }

  /// from[t] * by[t], channel by channel: in `to`, or where it lies if there is no decay.
  Rows<const T> scaled(Rows<const T> from, Rows<T> by, std::int64_t steps,
                       std::int64_t channels, Rows<T> to) const {
    if (width == 0) return from;
    for (std::int64_t t = 0; t < steps; ++t) {
      if (width == 1)
        for (std::int64_t c = 0; c < channels; ++c) to[t][c] = from[t][c] * by[t][0];
      else
        for (std::int64_t c = 0; c < channels; ++c) to[t][c] = from[t][c] * by[t][c];
    }
    return to;
  }
};

/// Scores of pairs of steps, u <= t, with what the steps between leave of them:
///
///     s_tu = sum over c of x_tc k_uc e^(decay_(u+1)c + ... + decay_tc)
///
/// With a decay for each channel a chunk is halved again and again. Where t and u lie on
/// different sides of a cut the decay is one of t times one of u, so those scores are a
/// product of matrices; short pieces are summed as they stand.
template <class T>
struct ChunkScores {
  const ChunkDecay<T>& decay;
  std::int64_t channels;
  Rows<T> a, b;  ///< scratch, [steps, channels]
  T* left;       ///< scratch, [channels]

  /// s [steps, steps], with zeros above the diagonal.
  void forward(Rows<const T> x, Rows<const T> k, std::int64_t steps, Rows<T> s) const {
    if (decay.width > 1) {
      forward_between(x, k, 0, steps, s);
    } else {
      multiply<T>({steps, steps, channels}, x, transposed(k), s);
      fade(s, steps);
    }
    for (std::int64_t t = 0; t < steps; ++t) std::fill(s[t] + t + 1, s[t] + steps, T(0));
  }

  /// dx += and dk += of the gradient ds, which has zeros above the diagonal. Changes ds.
  void backward(Rows<const T> x, Rows<const T> k, std::int64_t steps, Rows<T> ds, Rows<T> dx,
                Rows<T> dk) const {
    if (decay.width > 1) return backward_between(x, k, 0, steps, ds, dx, dk);
    fade(ds, steps);
    multiply<T>({steps, channels, steps}, ds, k, dx, Onto::sum);
    multiply<T>({steps, channels, steps}, transposed(ds), x, dk, Onto::sum);
  }

 private:
  /// What one decay for all channels leaves of the scores.
  void fade(Rows<T> s, std::int64_t steps) const {
    if (decay.width == 0) return;
    for (std::int64_t t = 1; t < steps; ++t) {
      T rest = T(1);
      for (std::int64_t u = t; u-- > 0;) s[t][u] *= rest *= decay.step[u + 1][0];
    }
  }

  void fade_left(std::int64_t t) const {
    for (std::int64_t c = 0; c < channels; ++c) left[c] *= decay.step[t][c];
  }
  /// Calls run(t) for the steps behind a cut; `left` is what is left at t of those before it.
  template <class Run>
  void behind(std::int64_t cut, std::int64_t end, const Run& run) const {
    std::fill_n(left, channels, T(1));
    for (std::int64_t t = cut; t < end; ++t) {
      fade_left(t);
      run(t);
    }
  }
  /// Calls run(u) for the steps before a cut; `left` is what is left of u just before it.
  template <class Run>
  void before(std::int64_t begin, std::int64_t cut, const Run& run) const {
    std::fill_n(left, channels, T(1));
    for (std::int64_t u = cut; u-- > begin; fade_left(u)) run(u);
  }
  /// to += or = x * y, for a row of channels.
  void add(T* to, const T* x, const T* y) const {
    for (std::int64_t c = 0; c < channels; ++c) to[c] += x[c] * y[c];
  }
  void put(T* to, const T* x, const T* y) const {
    for (std::int64_t c = 0; c < channels; ++c) to[c] = x[c] * y[c];
  }
  T dot(const T* x, const T* y) const {
    constexpr std::int64_t kSums = 8;  // that do not wait for each other
    T sums[kSums] = {};
    std::int64_t c = 0;
    for (; c + kSums <= channels; c += kSums)
      for (std::int64_t i = 0; i < kSums; ++i) sums[i] += x[c + i] * y[c + i];
    for (; c < channels; ++c) sums[0] += x[c] * y[c];
    for (std::int64_t i = 1; i < kSums; ++i) sums[0] += sums[i];
    return sums[0];
  }
  /// a: rows of x behind the cut, b: rows of k before it, both faded up to it.
  void split(Rows<const T> x, Rows<const T> k, std::int64_t begin, std::int64_t cut,
             std::int64_t end) const {
    behind(cut, end, [&](std::int64_t t) { put(a[t], x[t], left); });
    before(begin, cut, [&](std::int64_t u) { put(b[u], k[u], left); });
  }

  void forward_between(Rows<const T> x, Rows<const T> k, std::int64_t begin, std::int64_t end,
                       Rows<T> s) const {
    if (end - begin <= kPiece) return forward_piece(x, k, begin, end, s);
    const std::int64_t cut = begin + (end - begin) / 2;
    split(x, k, begin, cut, end);
    multiply<T>({end - cut, cut - begin, channels}, a.from(cut), transposed(b.from(begin)),
                s.from(cut, begin));
    forward_between(x, k, begin, cut, s);
    forward_between(x, k, cut, end, s);
  }
  void forward_piece(Rows<const T> x, Rows<const T> k, std::int64_t begin, std::int64_t end,
                     Rows<T> s) const {
    for (std::int64_t t = begin; t < end; ++t) {
      std::copy_n(x[t], channels, left);
      for (std::int64_t u = t + 1; u-- > begin; fade_left(u)) s[t][u] = dot(left, k[u]);
    }
  }

  void backward_between(Rows<const T> x, Rows<const T> k, std::int64_t begin, std::int64_t end,
                        Rows<T> ds, Rows<T> dx, Rows<T> dk) const {
    if (end - begin <= kPiece) return backward_piece(x, k, begin, end, ds, dx, dk);
    const std::int64_t cut = begin + (end - begin) / 2;
    const Rows<T> block = ds.from(cut, begin);
    split(x, k, begin, cut, end);
    // The rows of b behind the cut are free; those before it are, once they were multiplied.
    multiply<T>({end - cut, channels, cut - begin}, block, b.from(begin), b.from(cut));
    behind(cut, end, [&](std::int64_t t) { add(dx[t], b[t], left); });
    multiply<T>({cut - begin, channels, end - cut}, transposed(block), a.from(cut),
                b.from(begin));
    before(begin, cut, [&](std::int64_t u) { add(dk[u], b[u], left); });
    backward_between(x, k, begin, cut, ds, dx, dk);
    backward_between(x, k, cut, end, ds, dx, dk);
  }
  void backward_piece(Rows<const T> x, Rows<const T> k, std::int64_t begin, std::int64_t end,
                      Rows<T> ds, Rows<T> dx, Rows<T> dk) const {
    for (std::int64_t t = begin; t < end; ++t) {
      for (std::int64_t c = 0; c < channels; ++c) left[c] = T(1);
      for (std::int64_t u = t + 1; u-- > begin; fade_left(u))
        for (std::int64_t c = 0; c < channels; ++c) {
          const T grad = ds[t][u] * left[c];
          dx[t][c] += grad * k[u][c];
          dk[u][c] += grad * x[t][c];
        }
    }
  }
};

/// What the delta rule writes: r_t += sum over u < t of a_tu w_u, then w_t = beta_t r_t. The
/// system is halved, and a product of matrices takes one half into the other.
template <class T>
void solve(Rows<const T> a, const T* beta, std::int64_t begin, std::int64_t end,
           std::int64_t values, Rows<T> r, Rows<T> w) {
  if (end - begin <= kPiece) {
    for (std::int64_t t = begin; t < end; ++t) {
      for (std::int64_t u = begin; u < t; ++u)
        for (std::int64_t j = 0; j < values; ++j) r[t][j] += a[t][u] * w[u][j];
      for (std::int64_t j = 0; j < values; ++j) w[t][j] = beta[t] * r[t][j];
    }
    return;
  }
  const std::int64_t cut = begin + (end - begin) / 2;
  solve(a, beta, begin, cut, values, r, w);
  multiply<T>({end - cut, values, cut - begin}, a.from(cut, begin), w.from(begin), r.from(cut),
              Onto::sum);
  solve(a, beta, cut, end, values, r, w);
}

/// Its gradient. dw_u += sum over t > u of a_tu dr_t, then dr_u = beta_u dw_u: the same system
/// from its end.
template <class T>
void solve_backward(Rows<const T> a, const T* beta, std::int64_t begin, std::int64_t end,
                    std::int64_t values, Rows<T> dw, Rows<T> dr) {
  if (end - begin <= kPiece) {
    for (std::int64_t u = end; u-- > begin;) {
      for (std::int64_t t = u + 1; t < end; ++t)
        for (std::int64_t j = 0; j < values; ++j) dw[u][j] += a[t][u] * dr[t][j];
      for (std::int64_t j = 0; j < values; ++j) dr[u][j] = beta[u] * dw[u][j];
    }
    return;
  }
  const std::int64_t cut = begin + (end - begin) / 2;
  solve_backward(a, beta, cut, end, values, dw, dr);
  multiply<T>({cut - begin, values, end - cut}, transposed(a.from(cut, begin)), dr.from(cut),
              dw.from(begin), Onto::sum);
  solve_backward(a, beta, begin, cut, values, dw, dr);
}

}  // namespace attn::cpu
