// SPDX-License-Identifier: Apache-2.0

#include "oracle.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "data.hpp"
#include "problem.hpp"
#include "team.hpp"

namespace attn::bench {
namespace {

using Doubles = std::vector<double>;

Doubles widened(const float* from, std::int64_t size) {
  return {from, from + size};
}
std::vector<float> narrowed(const Doubles& from) {
  return {from.begin(), from.end()};
}
std::size_t at(std::int64_t i) {
  return static_cast<std::size_t>(i);
}

Doubles transposed(const Doubles& x, std::int64_t rows, std::int64_t columns) {
  Doubles y(x.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) y[at(j * rows + i)] = x[at(i * columns + j)];
  }
  return y;
}

/// y[j] += Σ_c x[c] · matrix[c, j] over the kept columns; the inner loop vectorises.
void add_row_times(const double* x, const Doubles& matrix, std::int64_t depth,
                   std::int64_t width, Range range, double* y) {
  for (std::int64_t c = 0; c < depth; ++c) {
    const double* row = matrix.data() + c * width;
    for (std::int64_t j = range.first; j < range.last; ++j) y[j] += x[c] * row[j];
  }
}

/// y [d] += Σ_j x[j] · matrix[j, :].
void add_rows(const double* x, const Doubles& matrix, std::int64_t dim, Range range,
              double* y) {
  for (std::int64_t j = range.first; j < range.last; ++j) {
    const double* row = matrix.data() + j * dim;
    for (std::int64_t c = 0; c < dim; ++c) y[c] += x[j] * row[c];
  }
}

/// matrix[j, :] += x[j] · y [d].
void add_outer(const double* x, const double* y, std::int64_t dim, Range range,
               Doubles& matrix) {
  for (std::int64_t j = range.first; j < range.last; ++j) {
    double* row = matrix.data() + j * dim;
    for (std::int64_t c = 0; c < dim; ++c) row[c] += x[j] * y[c];
  }
}

void softmax(Doubles& s, Range range) {
  double max = -std::numeric_limits<double>::infinity();
  for (std::int64_t j = range.first; j < range.last; ++j) max = std::max(max, s[at(j)]);
  double sum = 0;
  for (std::int64_t j = range.first; j < range.last; ++j) {
    s[at(j)] = std::exp(s[at(j)] - max);
    sum += s[at(j)];
  }
  for (std::int64_t j = range.first; j < range.last; ++j) s[at(j)] /= sum;
}

void add(Doubles& to, const Doubles& from) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

/// The last head of the last batch.
Witness dot_oracle(const Problem& p, const Data& data) {
  const std::int64_t d = p.dim, n = p.queries, m = p.keys;
  const std::int64_t head = p.batch * p.heads - 1;
  const Doubles q = widened(data.q.data() + head * n * d, n * d);
  const Doubles k = widened(data.k.data() + head * m * d, m * d);
  const Doubles v = widened(data.v.data() + head * m * d, m * d);
  const bool backward = p.pass != Pass::forward;
  const Doubles g = backward ? widened(data.grad_out.data() + head * n * d, n * d) : Doubles();
  const Doubles k_t = transposed(k, m, d), v_t = transposed(v, m, d);
  const double scale = 1 / std::sqrt(static_cast<double>(d));

  Team team(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  Doubles out(at(n * d)), dq(at(backward ? n * d : 0));
  std::vector<Doubles> dk(at(team.size())), dv(at(team.size()));
  for (auto& x : dk) x.resize(at(backward ? m * d : 0));
  for (auto& x : dv) x.resize(at(backward ? m * d : 0));

  team.split(n, [&](int rank, std::int64_t i) {
    const Range range = kept(p, i);
    Doubles weights(at(m));
    add_row_times(&q[at(i * d)], k_t, d, m, range, weights.data());
    for (auto& s : weights) s *= scale;
    softmax(weights, range);
    add_rows(weights.data(), v, d, range, &out[at(i * d)]);
    if (!backward) return;

    Doubles grad(at(m));
    add_row_times(&g[at(i * d)], v_t, d, m, range, grad.data());
    double delta = 0;
    for (std::int64_t j = range.first; j < range.last; ++j)
      delta += grad[at(j)] * weights[at(j)];
    add_outer(weights.data(), &g[at(i * d)], d, range, dv[at(rank)]);
    for (std::int64_t j = range.first; j < range.last; ++j) {
      grad[at(j)] = scale * weights[at(j)] * (grad[at(j)] - delta);
    }
    add_rows(grad.data(), k, d, range, &dq[at(i * d)]);
    add_outer(grad.data(), &q[at(i * d)], d, range, dk[at(rank)]);
  });

  Witness witness;
  if (p.pass != Pass::backward) witness["out"] = narrowed(out);
  if (!backward) return witness;
  for (std::size_t rank = 1; rank < dk.size(); ++rank) {
    add(dk[0], dk[rank]);
    add(dv[0], dv[rank]);
  }
  witness["dq"] = narrowed(dq);
  witness["dk"] = narrowed(dk[0]);
  witness["dv"] = narrowed(dv[0]);
  return witness;
}

/// y [rows, d] = x W, or x Wᵀ.
Doubles projected(const Doubles& x, std::int64_t rows, const Doubles& w, std::int64_t d) {
  Doubles y(x.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    add_rows(&x[at(i * d)], w, d, {0, d}, &y[at(i * d)]);
  }
  return y;
}

/// xᵀ y, [d, d].
Doubles crossed(const Doubles& x, const Doubles& y, std::int64_t rows, std::int64_t d) {
  Doubles w(at(d * d));
  for (std::int64_t i = 0; i < rows; ++i) add_outer(&x[at(i * d)], &y[at(i * d)], d, {0, d}, w);
  return w;
}

struct AdditiveGrads {
  Doubles q, k, v, weight;
};

/// One query of additive attention. `k` and `v` are of its batch, as are the gradients' rows.
void additive_query(const Problem& p, const double* q, const double* k, const Doubles& v,
                    std::int64_t key_offset, const Doubles& w, const double* g, double* out,
                    double* dq, AdditiveGrads* grads) {
  const std::int64_t d = p.dim, m = p.keys;
  Doubles hidden(at(m * d)), weights(at(m));
  for (std::int64_t j = 0; j < m; ++j) {
    for (std::int64_t c = 0; c < d; ++c) {
      hidden[at(j * d + c)] = std::tanh(q[c] + k[j * d + c]);
      weights[at(j)] += w[at(c)] * hidden[at(j * d + c)];
    }
  }
  softmax(weights, {0, m});
  const double* values = v.data() + key_offset * d;
  for (std::int64_t j = 0; j < m; ++j) {
    for (std::int64_t c = 0; c < d; ++c) out[c] += weights[at(j)] * values[j * d + c];
  }
  if (grads == nullptr) return;

  Doubles grad(at(m));
  double delta = 0;
  for (std::int64_t j = 0; j < m; ++j) {
    for (std::int64_t c = 0; c < d; ++c) {
      grad[at(j)] += g[c] * values[j * d + c];
      grads->v[at((key_offset + j) * d + c)] += weights[at(j)] * g[c];
    }
    delta += grad[at(j)] * weights[at(j)];
  }
  for (std::int64_t j = 0; j < m; ++j) {
    const double ds = weights[at(j)] * (grad[at(j)] - delta);
    for (std::int64_t c = 0; c < d; ++c) {
      const double t = hidden[at(j * d + c)];
      const double dh = ds * w[at(c)] * (1 - t * t);
      grads->weight[at(c)] += ds * t;
      dq[c] += dh;
      grads->k[at((key_offset + j) * d + c)] += dh;
    }
  }
}

Witness additive_oracle(const Problem& p, const Data& data) {
  const std::int64_t d = p.dim;
  const std::int64_t query_rows = p.batch * p.queries, key_rows = p.batch * p.keys;
  const bool backward = p.pass != Pass::forward;
  const Doubles x_q = widened(data.q.data(), data.q.size());
  const Doubles x_k = widened(data.k.data(), data.k.size());
  const Doubles v = widened(data.v.data(), data.v.size());
  const Doubles g = widened(data.grad_out.data(), data.grad_out.size());
  const Doubles w_q = widened(data.query_projection.data(), d * d);
  const Doubles w_k = widened(data.key_projection.data(), d * d);
  const Doubles w = widened(data.weight.data(), d);
  const Doubles q = projected(x_q, query_rows, w_q, d);
  const Doubles k = projected(x_k, key_rows, w_k, d);

  Team team(static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
  Doubles out(q.size()), dq(q.size());
  std::vector<AdditiveGrads> grads(at(team.size()));
  for (auto& x : grads) {
    x = {Doubles(), Doubles(k.size()), Doubles(k.size()), Doubles(at(d))};
  }
  team.split(query_rows, [&](int rank, std::int64_t i) {
    const std::int64_t offset = i / p.queries * p.keys;
    additive_query(p, &q[at(i * d)], &k[at(offset * d)], v, offset, w,
                   backward ? &g[at(i * d)] : nullptr, &out[at(i * d)], &dq[at(i * d)],
                   backward ? &grads[at(rank)] : nullptr);
  });

  Witness witness{{"out", narrowed(out)}};
  if (!backward) return witness;
  for (std::size_t rank = 1; rank < grads.size(); ++rank) {
    add(grads[0].k, grads[rank].k);
    add(grads[0].v, grads[rank].v);
    add(grads[0].weight, grads[rank].weight);
  }
  witness["dq"] = narrowed(projected(dq, query_rows, transposed(w_q, d, d), d));
  witness["dk"] = narrowed(projected(grads[0].k, key_rows, transposed(w_k, d, d), d));
  witness["dv"] = narrowed(grads[0].v);
  witness["dwq"] = narrowed(crossed(x_q, dq, query_rows, d));
  witness["dwk"] = narrowed(crossed(x_k, grads[0].k, key_rows, d));
  witness["dw"] = narrowed(grads[0].weight);
  return witness;
}

}  // namespace

Witness oracle(const Problem& problem, const Data& data) {
  return problem.family == Family::dot ? dot_oracle(problem, data)
                                       : additive_oracle(problem, data);
}

double error(const Witness& seen, const Witness& expected) {
  constexpr double kWrong = std::numeric_limits<double>::infinity();
  double worst = 0;
  for (const auto& [tensor, want] : expected) {
    const auto found = seen.find(tensor);
    if (found == seen.end() || found->second.size() != want.size()) return kWrong;
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double x = found->second[i], y = want[i];
      if (!std::isfinite(x)) return kWrong;
      difference += (x - y) * (x - y);
      norm += y * y;
    }
    worst = std::max(worst, std::sqrt(difference / std::max(norm, 1e-300)));
  }
  return worst;
}

}  // namespace attn::bench
