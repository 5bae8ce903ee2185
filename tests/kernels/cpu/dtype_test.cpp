// Attention on 16-bit storage equals attention on the rounded floats.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/kernels/cpu/attention.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"
#include "kernels/support/strided.hpp"

namespace attn {
namespace {

/// 16-bit storage is float on the rounded numbers, its output rounded once.
template <class T>
std::string storage_rounds_float(const test::Problem& p) {
  test::Spec spec = p.spec;
  spec.dtype = DType::f32;
  test::Problem wide(spec);
  wide.q = p.q;
  wide.k = p.k;
  wide.v = p.v;
  wide.d_out = p.d_out;
  wide.d_stat = p.d_stat;
  wide.d_all = p.d_all;
  wide.d_columns = p.d_columns;
  wide.d_distances = p.d_distances;
  test::Results want = test::run_cpu(wide);
  for (double& x : want.out) x = test::widen(test::narrow<T>(x));
  const test::Results got = test::run_cpu(p);
  std::string wrong;
  if (got.out != want.out) wrong += "out is not float's, rounded; ";
  if (got.stat != want.stat) wrong += "stat is not float's; ";
  return wrong + test::difference(p, got, want);
}

TEST(Dtype, SixteenBitStorageIsFloatOnTheRoundedNumbers) {
  test::check_property("bf16", 40, test::Size::mixed, storage_rounds_float<BFloat16>,
                       [](test::Spec& spec) { spec.dtype = DType::bf16; });
  test::check_property("f16", 40, test::Size::mixed, storage_rounds_float<Float16>,
                       [](test::Spec& spec) { spec.dtype = DType::f16; });
}

}  // namespace
}  // namespace attn
