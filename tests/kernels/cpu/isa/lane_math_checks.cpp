/// The accuracy of lane_math.hpp on one instruction set, against double.

#include <math.h>

#include <bit>

#include "attn/kernels/cpu/lane_math.hpp"
#include "lane_report.hpp"

namespace attn::cpu::inline ATTN_TARGET {
namespace {

#if !defined(ATTN_SWEEP_STEP)
#  define ATTN_SWEEP_STEP 1009  // of the floats' bit patterns; 1 tries them all
#endif

struct Worst {
  double error = 0.0;
  double where = 0.0;
};

/// |seen - want| / max(|want|, floor); a NaN on one side alone, or another infinity, is
/// infinite.
double error_of(double seen, double want, double floor) {
  if (seen == want || (seen != seen && want != want)) return 0.0;
  const double scale = fabs(want) > floor ? fabs(want) : floor;
  const double error = fabs(seen - want) / scale;
  return error == error ? error : kInfinity;
}

/// Tries the floats from `from` to `to`, both of one sign, in steps of their bit patterns.
template <class F>
void sweep(F function, double (*truth)(double), float from, float to, double floor,
           Worst& worst) {
  auto low = std::bit_cast<unsigned>(from);
  auto high = std::bit_cast<unsigned>(to);
  if (low > high) {
    const unsigned swap = low;
    low = high;
    high = swap;
  }
  for (unsigned long word = low; word <= high;) {
    float x[kLanes];
    float y[kLanes];
    for (int i = 0; i < kLanes; ++i) {
      x[i] = std::bit_cast<float>(static_cast<unsigned>(word < high ? word : high));
      word += ATTN_SWEEP_STEP;
    }
    function(Lane::load(x)).store(y);
    for (int i = 0; i < kLanes; ++i) {
      const double error = error_of(y[i], truth(x[i]), floor);
      if (!(error <= worst.error)) worst = {error, x[i]};
    }
  }
}

template <class F>
float one(F function, float x) {
  return first(function(Lane(x)));
}

double sigmoid_truth(double x) {
  return 1.0 / (1.0 + ::exp(-x));
}
double reciprocal_truth(double x) {
  return 1.0 / x;
}

constexpr float kSmallestNormal = 0x1p-126f;
constexpr float kNan = __builtin_nanf("");
constexpr float kNanWithPayload = std::bit_cast<float>(0x7fc12345u);

template <class F>
void keeps_nan(LaneReport& report, const char* law, F function) {
  int lost = 0;
  for (const float nan : {kNan, -kNan, kNanWithPayload, -kNanWithPayload}) {
    const float y = one(function, nan);
    lost += y == y;
  }
  report.none(law, lost);
}

constexpr auto exp_nonpositive_of = [](Lane x) __attribute__((always_inline)) {
  return exp_nonpositive(x);
};
constexpr auto exp_of = [](Lane x) __attribute__((always_inline)) { return exp(x); };
constexpr auto tanh_of = [](Lane x) __attribute__((always_inline)) { return tanh(x); };
constexpr auto sigmoid_of = [](Lane x) __attribute__((always_inline)) { return sigmoid(x); };
constexpr auto log_of = [](Lane x) __attribute__((always_inline)) { return log(x); };
constexpr auto reciprocal_of = [](Lane x)
                                   __attribute__((always_inline)) { return reciprocal(x); };

void check_exponentials(LaneReport& report) {
  // Results below the smallest normal number may become 0: the error counts against it.
  Worst worst;
  sweep(exp_nonpositive_of, ::exp, -0.0f, -20.0f, 0.0, worst);
  report.add("exp_nonpositive: relative error down to -20", worst.error, 1.5e-7, worst.where);
  sweep(exp_nonpositive_of, ::exp, -20.0f, -87.33f, 0.0, worst);
  report.add("exp_nonpositive: relative error", worst.error, 3.3e-7, worst.where);
  worst = {};
  sweep(exp_nonpositive_of, ::exp, -87.33f, -kInfinity, kSmallestNormal, worst);
  report.add("exp_nonpositive: below the normal numbers", worst.error, 1.0, worst.where);
  worst = {};
  sweep(exp_of, ::exp, -0.0f, -86.98f, 0.0, worst);
  sweep(exp_of, ::exp, 0.0f, 88.72f, 0.0, worst);
  report.add("exp: relative error", worst.error, 2.0e-7, worst.where);
  worst = {};
  sweep(exp_of, ::exp, -86.98f, -kInfinity, 1.7e-38, worst);
  report.add("exp: below the normal numbers", worst.error, 1.0, worst.where);

  report.none("exp_nonpositive(0) is 1", one(exp_nonpositive_of, 0.0f) != 1.0f);
  report.none("exp_nonpositive(-0) is 1", one(exp_nonpositive_of, -0.0f) != 1.0f);
  report.none("exp_below(-inf, top) is 0", first(exp_below(Lane(-kInfinity), 3.0f)) != 0.0f);
  report.none("exp_below(top, top) is 1", first(exp_below(Lane(3.0f), 3.0f)) != 1.0f);
  report.none("exp(0) is 1", one(exp_of, 0.0f) != 1.0f);
  for (const float x : {-kInfinity, -3.0e38f, -1000.0f, -88.1f, -87.7f}) {
    report.none("exp_nonpositive is exactly 0", one(exp_nonpositive_of, x) != 0.0f, x);
    report.none("exp is exactly 0", one(exp_of, x) != 0.0f, x);
  }
  for (const float x : {kInfinity, 3.0e38f, 1000.0f, 128.0f, 88.73f})
    report.none("exp overflows to infinity", one(exp_of, x) != kInfinity, x);
  keeps_nan(report, "exp_nonpositive keeps NaN", exp_nonpositive_of);
  keeps_nan(report, "exp keeps NaN", exp_of);
}

void check_others(LaneReport& report) {
  Worst worst;
  sweep(tanh_of, ::tanh, 0.0f, kInfinity, 0.0, worst);
  sweep(tanh_of, ::tanh, -0.0f, -kInfinity, 0.0, worst);
  report.add("tanh: relative error, all floats", worst.error, 2.8e-7, worst.where);
  worst = {};
  sweep(sigmoid_of, sigmoid_truth, 0.0f, kInfinity, 0.0, worst);
  sweep(sigmoid_of, sigmoid_truth, -0.0f, -87.33f, 0.0, worst);
  report.add("sigmoid: relative error", worst.error, 2.0e-7, worst.where);
  worst = {};
  sweep(sigmoid_of, sigmoid_truth, -87.33f, -kInfinity, kSmallestNormal, worst);
  report.add("sigmoid: below the normal numbers", worst.error, 1.0, worst.where);
  worst = {};
  sweep(log_of, ::log, 0.0f, kInfinity, 0.0, worst);
  report.add("log: relative error, all positive floats", worst.error, 1.5e-7, worst.where);
  worst = {};
  sweep(reciprocal_of, reciprocal_truth, kSmallestNormal, 0x1p125f, 0.0, worst);
  sweep(reciprocal_of, reciprocal_truth, -kSmallestNormal, -0x1p125f, 0.0, worst);
  report.add("reciprocal: relative error", worst.error, 2.5e-7, worst.where);

  report.none("tanh(inf) is 1", one(tanh_of, kInfinity) != 1.0f);
  report.none("tanh(-inf) is -1", one(tanh_of, -kInfinity) != -1.0f);
  report.none("tanh keeps the sign of zero", !__builtin_signbit(one(tanh_of, -0.0f)));
  report.none("sigmoid(-inf) is 0", one(sigmoid_of, -kInfinity) != 0.0f);
  report.none("sigmoid(inf) is 1", one(sigmoid_of, kInfinity) != 1.0f);
  report.none("log(0) is -inf", one(log_of, 0.0f) != -kInfinity);
  report.none("log(-0) is -inf", one(log_of, -0.0f) != -kInfinity);
  report.none("log(1) is 0", one(log_of, 1.0f) != 0.0f);
  for (const float x : {-1.0e-40f, -1.0f, -kInfinity}) {
    const float y = one(log_of, x);
    report.none("log of a negative number is NaN", y == y, x);
  }
  keeps_nan(report, "tanh keeps NaN", tanh_of);
  keeps_nan(report, "sigmoid keeps NaN", sigmoid_of);
  keeps_nan(report, "log keeps NaN", log_of);
}

}  // namespace

void check_lane_math(LaneReport& report) {
  check_exponentials(report);
  check_others(report);
}

}  // namespace attn::cpu::inline ATTN_TARGET
