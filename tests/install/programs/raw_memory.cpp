// Attention on plain memory, causal and with lengths, forward and backward, against plain loops
// in double. Nothing but attn::kernels.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <random>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/lengths.hpp"

namespace {

constexpr int kBatch = 2, kHeads = 3, kQueries = 5, kKeys = 9, kDim = 7, kValues = 4;
constexpr int kLengths[kBatch] = {9, 6};  // the second sequence has three keys of padding
const double kScale = 1.0 / std::sqrt(7.0);

std::vector<float> normal(unsigned seed, int positions, int channels) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> draw;
  std::vector<float> x(static_cast<std::size_t>(kBatch * kHeads * positions * channels));
  for (float& number : x) number = draw(engine);
  return x;
}

/// What the definition gives, in double.
struct Expected {
  std::vector<double> out, dq, dk, dv;
};

Expected by_plain_loops(const std::vector<float>& q, const std::vector<float>& k,
                        const std::vector<float>& v, const std::vector<float>& d_out) {
  Expected e{std::vector<double>(d_out.size()), std::vector<double>(q.size()),
             std::vector<double>(k.size()), std::vector<double>(v.size())};
  for (int b = 0; b < kBatch; ++b)
    for (int h = 0; h < kHeads; ++h)
      for (int i = 0; i < kQueries; ++i) {
        const int head = b * kHeads + h;
        const auto at = [](int outer, int positions, int row, int channels, int c) {
          return static_cast<std::size_t>((outer * positions + row) * channels + c);
        };
        // The last query lines up with the last key.
        const int seen = std::min(kLengths[b], i + (kKeys - kQueries) + 1);
        std::vector<double> w(static_cast<std::size_t>(seen));
        double sum = 0.0;
        for (int j = 0; j < seen; ++j) {
          double s = 0.0;
          for (int c = 0; c < kDim; ++c)
            s += double{q[at(head, kQueries, i, kDim, c)]} * k[at(head, kKeys, j, kDim, c)];
          w[static_cast<std::size_t>(j)] = std::exp(kScale * s);
          sum += w[static_cast<std::size_t>(j)];
        }
        std::vector<double> dw(w.size());
        double mean = 0.0;
        for (int j = 0; j < seen; ++j) {
          const auto n = static_cast<std::size_t>(j);
          w[n] /= sum;
          for (int c = 0; c < kValues; ++c) {
            const std::size_t o = at(head, kQueries, i, kValues, c);
            const std::size_t p = at(head, kKeys, j, kValues, c);
            e.out[o] += w[n] * v[p];
            e.dv[p] += w[n] * d_out[o];
            dw[n] += double{d_out[o]} * v[p];
          }
          mean += w[n] * dw[n];
        }
        for (int j = 0; j < seen; ++j) {
          const auto n = static_cast<std::size_t>(j);
          const double ds = kScale * w[n] * (dw[n] - mean);
          for (int c = 0; c < kDim; ++c) {
            e.dq[at(head, kQueries, i, kDim, c)] += ds * k[at(head, kKeys, j, kDim, c)];
            e.dk[at(head, kKeys, j, kDim, c)] += ds * q[at(head, kQueries, i, kDim, c)];
          }
        }
      }
  return e;
}

bool close(const char* name, const std::vector<float>& got, const std::vector<double>& wanted) {
  double worst = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, std::fabs(got[i] - wanted[i]));
    largest = std::max(largest, std::fabs(wanted[i]));
  }
  std::printf("%s: at most %.2g from plain loops, numbers up to %.2g\n", name, worst, largest);
  return worst < 1e-5 && largest > 0.1;
}

}  // namespace

int main() {
  const auto q = normal(1, kQueries, kDim), k = normal(2, kKeys, kDim);
  const auto v = normal(3, kKeys, kValues), d_out = normal(4, kQueries, kValues);
  std::vector<float> out(d_out.size()), dq(q.size()), dk(k.size()), dv(v.size());
  std::vector<float> log_sum_exp(std::size_t{kBatch} * kHeads * kQueries);

  attn::Recipe recipe;
  recipe.scale = static_cast<float>(kScale);
  recipe.masks = {
      attn::MaskTree::of(attn::mask_stage(attn::mask::Causal::bottom_right(kQueries, kKeys))),
      attn::MaskTree::of(attn::mask_stage(attn::mask::Lengths{kLengths}))};
  const attn::ForwardArgs<float> forward{
      .q = attn::packed<const float>(q.data(), kBatch, kHeads, kQueries, kDim),
      .k = attn::packed<const float>(k.data(), kBatch, kHeads, kKeys, kDim),
      .v = attn::packed<const float>(v.data(), kBatch, kHeads, kKeys, kValues),
      .out = attn::packed<float>(out.data(), kBatch, kHeads, kQueries, kValues),
      .stat = attn::packed<float>(log_sum_exp.data(), kBatch, kHeads, kQueries)};
  attn::cpu::forward(forward, recipe);
  attn::cpu::backward<float>(
      {.q = forward.q,
       .k = forward.k,
       .v = forward.v,
       .out = forward.out,
       .stat = forward.stat,
       .d_out = attn::packed<const float>(d_out.data(), kBatch, kHeads, kQueries, kValues),
       .dq = attn::packed<float>(dq.data(), kBatch, kHeads, kQueries, kDim),
       .dk = attn::packed<float>(dk.data(), kBatch, kHeads, kKeys, kDim),
       .dv = attn::packed<float>(dv.data(), kBatch, kHeads, kKeys, kValues)},
      recipe, {});

  const Expected wanted = by_plain_loops(q, k, v, d_out);
  bool right = close("out", out, wanted.out);
  right = close("dq", dq, wanted.dq) && right;
  right = close("dk", dk, wanted.dk) && right;
  right = close("dv", dv, wanted.dv) && right;
  return right ? 0 : 1;
}
