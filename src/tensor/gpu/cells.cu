#include <cstdint>

#include "tensor/cell_formulas.hpp"
#include "tensor/gpu/cells.hpp"
#include "tensor/gpu/launch.cuh"

namespace attn::gpu {
namespace {

/// One unit of one row.
struct Unit {
  std::int64_t row;
  std::int64_t c;
  std::int64_t hidden;

  __device__ Unit(const CellRows& rows, std::int64_t i)
      : row(i / rows.hidden), c(i % rows.hidden), hidden(rows.hidden) {}
  __device__ std::int64_t state() const { return row * hidden + c; }
  /// Of `gates` gates.
  __device__ std::int64_t gate(int which, int gates) const {
    return (row * gates + which) * hidden + c;
  }
  __device__ bool takes_part(const CellRows& rows) const {
    return rows.lengths == nullptr || rows.time < rows.lengths[row];
  }
};

template <class T>
__device__ void rest(const CellStep<T>& step, const Unit& unit) {
  step.after[unit.state()] = step.before[unit.state()];
  if (step.cell_after != nullptr)
    step.cell_after[unit.state()] = step.cell_before[unit.state()];
  if (step.out != nullptr) step.out[unit.state()] = T(0);
}

template <class T>
__global__ void gru_kernel(CellStep<T> step) {
  for_numbers(step.rows.count * step.rows.hidden, [&](std::int64_t i) {
    const Unit unit(step.rows, i);
    if (!unit.takes_part(step.rows)) return rest(step, unit);
    const auto a = [&](int g) {
      return step.a[unit.gate(g, 3)] + step.bias[g * unit.hidden + unit.c];
    };
    const auto u = [&](int g) { return step.u[unit.gate(g, 3)]; };
    const T memory = u(2) + step.bias[3 * unit.hidden + unit.c];
    const cell::Gru<T> made =
        cell::gru<T>(a(0) + u(0), a(1) + u(1), a(2), memory, step.before[unit.state()]);
    step.kept[unit.gate(0, 4)] = made.reset;
    step.kept[unit.gate(1, 4)] = made.update;
    step.kept[unit.gate(2, 4)] = made.fresh;
    step.kept[unit.gate(3, 4)] = made.memory;
    step.after[unit.state()] = made.after;
    if (step.out != nullptr) step.out[unit.state()] = made.after;
  });
}

template <class T>
__global__ void lstm_kernel(CellStep<T> step) {
  for_numbers(step.rows.count * step.rows.hidden, [&](std::int64_t i) {
    const Unit unit(step.rows, i);
    if (!unit.takes_part(step.rows)) return rest(step, unit);
    const auto a = [&](int g) {
      return step.a[unit.gate(g, 4)] + step.u[unit.gate(g, 4)] +
             step.bias[g * unit.hidden + unit.c];
    };
    const cell::Lstm<T> made =
        cell::lstm<T>(a(0), a(1), a(2), a(3), step.cell_before[unit.state()]);
    step.kept[unit.gate(0, 4)] = made.input;
    step.kept[unit.gate(1, 4)] = made.forget;
    step.kept[unit.gate(2, 4)] = made.fresh;
    step.kept[unit.gate(3, 4)] = made.output;
    step.cell_after[unit.state()] = made.cell;
    step.after[unit.state()] = made.after;
    if (step.out != nullptr) step.out[unit.state()] = made.after;
  });
}

template <class T>
__device__ T arriving(const CellWayBack<T>& step, const Unit& unit) {
  const T later = step.d_state[unit.state()];
  return step.d_out == nullptr ? later : later + step.d_out[unit.state()];
}

template <class T>
__global__ void gru_back_kernel(CellWayBack<T> step) {
  for_numbers(step.rows.count * step.rows.hidden, [&](std::int64_t i) {
    const Unit unit(step.rows, i);
    cell::GruSlopes<T> d{};
    if (unit.takes_part(step.rows)) {
      const auto kept = [&](int g) { return step.kept[unit.gate(g, 4)]; };
      d = cell::gru_slopes<T>(kept(0), kept(1), kept(2), kept(3), step.before[unit.state()],
                              arriving(step, unit));
      step.d_state[unit.state()] = d.before;
    }
    step.d_a[unit.gate(0, 3)] = step.d_u[unit.gate(0, 3)] = d.reset;
    step.d_a[unit.gate(1, 3)] = step.d_u[unit.gate(1, 3)] = d.update;
    step.d_a[unit.gate(2, 3)] = d.fresh;
    step.d_u[unit.gate(2, 3)] = d.memory;
  });
}

template <class T>
__global__ void lstm_back_kernel(CellWayBack<T> step) {
  for_numbers(step.rows.count * step.rows.hidden, [&](std::int64_t i) {
    const Unit unit(step.rows, i);
    cell::LstmSlopes<T> d{};
    if (unit.takes_part(step.rows)) {
      const auto kept = [&](int g) { return step.kept[unit.gate(g, 4)]; };
      const T cell_after = step.cell_after[unit.state()];
      d = cell::lstm_slopes<T>({kept(0), kept(1), kept(2), kept(3), cell_after, cell_after},
                               step.cell_before[unit.state()], arriving(step, unit),
                               step.d_cell[unit.state()]);
      step.d_state[unit.state()] = T(0);
      step.d_cell[unit.state()] = d.cell;
    }
    step.d_a[unit.gate(0, 4)] = d.input;
    step.d_a[unit.gate(1, 4)] = d.forget;
    step.d_a[unit.gate(2, 4)] = d.fresh;
    step.d_a[unit.gate(3, 4)] = d.output;
  });
}

template <class Kernel, class Step>
void launch(Kernel kernel, const Step& step) {
  const std::int64_t count = step.rows.count * step.rows.hidden;
  if (count == 0) return;
  kernel<<<blocks_for(count), kThreads, 0, stream()>>>(step);
  check_launch();
}

}  // namespace

// clang-format off
template <class T> void gru_step(const CellStep<T>& step) { launch(&gru_kernel<T>, step); }
template <class T> void lstm_step(const CellStep<T>& step) { launch(&lstm_kernel<T>, step); }
template <class T> void gru_way_back(const CellWayBack<T>& step) { launch(&gru_back_kernel<T>, step); }
template <class T> void lstm_way_back(const CellWayBack<T>& step) { launch(&lstm_back_kernel<T>, step); }

template void gru_step(const CellStep<float>&);
template void gru_step(const CellStep<double>&);
template void lstm_step(const CellStep<float>&);
template void lstm_step(const CellStep<double>&);
template void gru_way_back(const CellWayBack<float>&);
template void gru_way_back(const CellWayBack<double>&);
template void lstm_way_back(const CellWayBack<float>&);
template void lstm_way_back(const CellWayBack<double>&);
// clang-format on

}  // namespace attn::gpu
