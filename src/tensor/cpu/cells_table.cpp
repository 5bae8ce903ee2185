#include "tensor/cpu/cells_table.hpp"

#include <cstdint>

#include "tensor/cpu/attention_rows.hpp"
#include "tensor/cpu/cells.hpp"

namespace attn::cpu {

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

}  // namespace attn::cpu
