/// lane_params.hpp and dual numbers over lanes on one instruction set, against the scalars.

#include <math.h>

#include "attn/core/concepts.hpp"
#include "attn/kernels/cpu/lane_math.hpp"
#include "attn/kernels/cpu/lane_params.hpp"
#include "lane_report.hpp"

namespace attn::score {

/// Only a forward, and every way to read a table.
struct LaneTrial {
  template <class V, class P>
  ATTN_FN V forward(V s, Site<V> at, const P& p) const {
    const V distance = real<V>(at.k - at.q);
    const V near =
        p.value(0) * tanh(s / 2.0f) + max(s, V(0.25f)) * exp(-0.01f * distance * distance);
    const V far = sigmoid(s) * p.at(1, 2) - log(1.0f + abs(s));
    return select(at.k <= at.q, near, far) + s * p.at(1, abs(at.k - at.q)) + p.along(2, at);
  }
};
static_assert(ScoreFunctor<LaneTrial>);

}  // namespace attn::score

namespace attn::cpu::inline ATTN_TARGET {
namespace {

constexpr int kKeys = 40;
constexpr int kQueries = 3;
constexpr int kHeads = 2;

double distance_of(double a, double b) {
  return fabs(a - b) / (1.0 + fabs(b));
}

/// Three tables of one kind of stride each, as numbers of type T; gradients beside them.
template <class T>
struct Tables {
  static constexpr int kSize = 2 * kHeads * kQueries * kKeys;
  T scalars[kHeads];
  T entries[2 * kKeys];
  T dense[kSize];
  Table tables[3];

  explicit Tables(std::int64_t stride) {
    for (int i = 0; i < kHeads; ++i) scalars[i] = static_cast<T>(0.5f + 0.25f * T(i));
    for (int i = 0; i < 2 * kKeys; ++i) entries[i] = static_cast<T>(::sin(0.7 * i));
    for (int i = 0; i < kSize; ++i) dense[i] = static_cast<T>(::cos(0.3 * i));
    tables[0] = {scalars, kDType<T>, {1, kHeads, 1, 1}, {0, 1, 0, 0}};
    tables[1] = {entries, kDType<T>, {1, 1, 1, kKeys}, {0, 0, 0, stride}};
    tables[2] = {dense,
                 kDType<T>,
                 {1, kHeads, kQueries, kKeys},
                 {0, kQueries * kKeys * stride, kKeys * stride, stride}};
  }
};

/// The lanes' keys: `count` from `start`, then the last one again.
LaneIndex keys_from(int start, int count) {
  return min(LaneIndex::ramp(start), start + count - 1);
}

void check_reads(LaneReport& report) {
  int wrong = 0;
  for (const int stride : {0, 1, 2}) {
    const Tables<float> t(stride);
    for (int count = 1; count <= kLanes; ++count) {
      const int start = kKeys - count;  // the table ends where the tile does
      const Params<Lane> p{t.tables, 0, 1, 2, count};
      const Params<float> scalar{t.tables, 0, 1, 2};
      const Site<Lane> at{0, 1, 2, keys_from(start, count)};
      float value[kLanes], fixed[kLanes], gathered[kLanes], along[kLanes];
      p.value(0).store(value);
      p.at(1, 5).store(fixed);
      p.at(1, at.k).store(gathered);
      p.along(2, at).store(along);
      for (int i = 0; i < count; ++i) {
        wrong += value[i] != scalar.value(0) || fixed[i] != scalar.at(1, 5);
        wrong += gathered[i] != scalar.at(1, start + i);
        wrong += along[i] != scalar.along(2, {0, 1, 2, start + i});
      }
    }
  }
  report.none("lanes read tables as scalars do", wrong);
}

void check_writes(LaneReport& report) {
  double worst = 0.0;
  int spilled = 0;
  for (const int stride : {0, 1, 2}) {
    for (int count = 1; count <= kLanes; ++count) {
      static float seen[2][2 * kKeys], want[2][2 * kKeys];
      for (int i = 0; i < 2 * kKeys; ++i)
        seen[0][i] = seen[1][i] = want[0][i] = want[1][i] = 0.125f * static_cast<float>(i % 5);
      const auto grads = [&](float(&data)[2][2 * kKeys], TableGrad* tables) {
        for (int slot = 0; slot < 2; ++slot)
          tables[slot] = {data[slot], DType::f32, {1, 1, 1, kKeys}, {0, 0, 0, stride}};
        tables[2] = {};
      };
      TableGrad lane_tables[3], scalar_tables[3];
      grads(seen, lane_tables);
      grads(want, scalar_tables);
      const ParamGrads<Lane> g{lane_tables, 0, 0, 0, count};
      const ParamGrads<float> scalar{scalar_tables, 0, 0, 0};
      const int start = 3;
      const LaneIndex keys = keys_from(start, count);
      const LaneIndex repeated = min(keys, 4);
      // Lanes past the tile are poison: adding one shows.
      const Lane grad = select(first_lanes(count), real<Lane>(LaneIndex::ramp(1)), 1.0e30f);
      g.value(0, grad);
      g.at(0, 7, grad);
      g.at(0, repeated, grad);
      g.along(1, {0, 0, 0, keys}, grad);
      g.value(2, grad);
      g.along(2, {0, 0, 0, keys}, grad);
      spilled += g.wants(2) || !g.wants(0);
      for (int i = 0; i < count; ++i) {
        const auto each = static_cast<float>(i + 1);
        scalar.value(0, each);
        scalar.at(0, 7, each);
        scalar.at(0, start + i < 4 ? start + i : 4, each);
        scalar.along(1, {0, 0, 0, start + i}, each);
      }
      for (int slot = 0; slot < 2; ++slot) {
        for (int i = 0; i < 2 * kKeys; ++i) {
          const double error = distance_of(seen[slot][i], want[slot][i]);
          worst = error > worst ? error : worst;
        }
      }
    }
  }
  report.add("lanes add gradients as scalars do", worst, 1.0e-6);
  report.none("a slot without data takes no gradient", spilled);
}

/// The functor in double at key k, its tables in double.
double truth(const Tables<double>& t, double s, int q, int k) {
  const Params<double> p{t.tables, 0, 1, q};
  return score::LaneTrial{}.forward(s, Site<double>{0, 1, q, k}, p);
}

void check_dual(LaneReport& report) {
  const Tables<float> t(1);
  Tables<double> exact(1);
  const int q = 2, start = 1;
  float s[kLanes], grad[kLanes], value[kLanes], slope[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    s[i] = static_cast<float>(2.0 * ::sin(1.3 * i + 0.4));
    grad[i] = static_cast<float>(0.5 + ::cos(0.9 * i));
  }
  static float scalar_grad[kHeads], entry_grad[2 * kKeys], dense_grad[Tables<float>::kSize];
  TableGrad grads[3];
  void* const data[3] = {scalar_grad, entry_grad, dense_grad};
  for (int slot = 0; slot < 3; ++slot)
    grads[slot] = {data[slot], DType::f32, t.tables[slot].shape, t.tables[slot].strides};

  const Site<Lane> at{0, 1, q, LaneIndex::ramp(start)};
  const Params<Lane> p{t.tables, 0, 1, q};
  const ParamGrads<Lane> g{grads, 0, 1, q};
  call_forward(score::LaneTrial{}, Lane::load(s), at, p).store(value);
  call_backward(score::LaneTrial{}, Lane::load(grad), Lane::load(s), at, p, g, 3).store(slope);

  const double h = 1.0e-5;
  double value_error = 0.0, slope_error = 0.0, table_error = 0.0;
  const auto worse = [](double& worst, double seen, double want) {
    const double error = distance_of(seen, want);
    if (!(error <= worst)) worst = error;
  };
  for (int i = 0; i < kLanes; ++i) {
    const int k = start + i;
    worse(value_error, value[i], truth(exact, s[i], q, k));
    const double rise = truth(exact, s[i] + h, q, k) - truth(exact, s[i] - h, q, k);
    worse(slope_error, slope[i], grad[i] * rise / (2.0 * h));
  }
  const auto by_difference = [&](double& number) {
    const double kept = number;
    double total = 0.0;
    for (int i = 0; i < kLanes; ++i) {
      number = kept + h;
      const double up = truth(exact, s[i], q, start + i);
      number = kept - h;
      total += grad[i] * (up - truth(exact, s[i], q, start + i)) / (2.0 * h);
    }
    number = kept;
    return total;
  };
  for (int i = 0; i < kHeads; ++i)
    worse(table_error, scalar_grad[i], by_difference(exact.scalars[i]));
  for (int i = 0; i < kKeys; ++i)
    worse(table_error, entry_grad[i], by_difference(exact.entries[i]));
  for (int i = 0; i < kHeads * kQueries * kKeys; ++i)
    worse(table_error, dense_grad[i], by_difference(exact.dense[i]));
  report.add("a functor's value over lanes", value_error, 1.0e-6);
  report.add("a functor's slope by dual numbers over lanes", slope_error, 2.0e-6);
  report.add("its tables' gradients by dual numbers over lanes", table_error, 4.0e-6);
}

}  // namespace

void check_lane_params(LaneReport& report) {
  check_reads(report);
  check_writes(report);
  check_dual(report);
}

}  // namespace attn::cpu::inline ATTN_TARGET
