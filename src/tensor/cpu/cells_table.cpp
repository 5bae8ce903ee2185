#include "tensor/cpu/cells_table.hpp"

#include <cstdint>

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
  return kCellTable<Doubles>;
}

}  // namespace attn::cpu
