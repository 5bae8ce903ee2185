#include "tensor/cpu/cells_table.hpp"

#include <cstdint>

#include "attn/kernels/target.hpp"
#include "tensor/cpu/attention_rows.hpp"
#include "tensor/cpu/cells.hpp"
#include "tensor/cpu/packed_table.hpp"

namespace attn::cpu {

// Each instruction set's objects define their own.
// clang-format off
namespace sse4 { const CellTable<float>& cells(); const PackedTable& packed(); }
namespace avx2 { const CellTable<float>& cells(); const PackedTable& packed(); }
namespace avx512 { const CellTable<float>& cells(); const PackedTable& packed(); }
namespace neon { const CellTable<float>& cells(); const PackedTable& packed(); }
// clang-format on

namespace {

/// One double at a time.
struct Doubles {
  using T = double;
  using V = double;
  static constexpr int kWidth = 1;

  static double load(const double* from, std::int64_t) { return *from; }
  static double load_or(const double* from, std::int64_t, double) { return *from; }
  static void store(double x, double* to, std::int64_t) { *to = x; }
  static double sum(double x) { return x; }
  static double largest(double x) { return x; }
};

}  // namespace

template <>
const CellTable<double>& cell_table<double>() {
  static constexpr CellTable<double> kTable{
      &gru_forward<Doubles>,   &gru_backward<Doubles>,      &lstm_forward<Doubles>,
      &lstm_backward<Doubles>, &attention_forward<Doubles>, &attention_backward<Doubles>,
      &tanh_forward<Doubles>,  &tanh_backward<Doubles>};
  return kTable;
}

template <>
const CellTable<float>& cell_table<float>() {
#if defined(__aarch64__)
  return neon::cells();
#else
  const Target target = best_target();
  if (target == Target::avx512) return avx512::cells();
  if (target == Target::avx2) return avx2::cells();
  return sse4::cells();
#endif
}

const PackedTable& packed_table() {
#if defined(__aarch64__)
  return neon::packed();
#else
  const Target target = best_target();
  if (target == Target::avx512) return avx512::packed();
  if (target == Target::avx2) return avx2::packed();
  return sse4::packed();
#endif
}

}  // namespace attn::cpu
