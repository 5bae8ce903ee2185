#include <cstdint>

#include "tensor/cell_formulas.hpp"
#include "tensor/gpu/cells.cuh"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/steps.hpp"

namespace attn::gpu {
namespace {

/// Calls body(unit) for all units, one a thread: a step has few, and waits for memory.
template <class Body>
__device__ __forceinline__ void for_units(const CellRows& rows, const Body& body) {
  const auto count = static_cast<std::uint32_t>(rows.count * rows.hidden);
  const auto hidden = static_cast<std::uint32_t>(rows.hidden);
  const std::uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count) body(Unit{i / hidden, i % hidden, rows.hidden});
}

template <class T>
__device__ void rest(const CellStep<T>& step, const Unit& unit) {
  step.after[unit.state()] = step.before[unit.state()];
  if (step.cell_after != nullptr)
    step.cell_after[unit.state()] = step.cell_before[unit.state()];
  if (step.out != nullptr) step.out[unit.state()] = T(0);
}

template <class T>
__global__ void gru_kernel(CellStep<T> step) {
  for_units(step.rows, [&](const Unit& unit) {
    if (!unit.takes_part(step.rows)) return rest(step, unit);
    gru_unit(step, unit, {T(0), T(0), T(0)});
  });
}

template <class T>
__global__ void lstm_kernel(CellStep<T> step) {
  for_units(step.rows, [&](const Unit& unit) {
    if (!unit.takes_part(step.rows)) return rest(step, unit);
    const auto a = [&](int g) {
      return step.a[unit.gate(g, step.a_stride)] + step.u[unit.gate(g, step.u_stride)] +
             step.bias[g * unit.hidden + unit.c];
    };
    const cell::Lstm<T> now =
        cell::lstm<T>(a(0), a(1), a(2), a(3), step.cell_before[unit.state()]);
    const std::int64_t stride = kKept * unit.hidden;
    step.gates[unit.gate(0, stride)] = now.input;
    step.gates[unit.gate(1, stride)] = now.forget;
    step.gates[unit.gate(2, stride)] = now.fresh;
    step.gates[unit.gate(3, stride)] = now.output;
    step.cell_after[unit.state()] = now.cell;
    step.after[unit.state()] = now.after;
    if (step.out != nullptr) step.out[unit.state()] = now.after;
  });
}

template <class T>
__global__ void gru_back_kernel(CellStepBackward<T> step) {
  for_units(step.rows, [&](const Unit& unit) { gru_unit_back(step, unit); });
}

template <class T>
__global__ void lstm_back_kernel(CellStepBackward<T> step) {
  for_units(step.rows, [&](const Unit& unit) {
    cell::LstmSlopes<T> d{};
    if (unit.takes_part(step.rows)) {
      const auto gate = [&](int g) { return step.gates[unit.gate(g, kKept * unit.hidden)]; };
      const T cell_after = step.cell_after[unit.state()];
      d = cell::lstm_slopes<T>({gate(0), gate(1), gate(2), gate(3), cell_after, cell_after},
                               step.cell_before[unit.state()], arriving(step, unit),
                               step.d_cell[unit.state()]);
      step.d_state[unit.state()] = T(0);
      step.d_cell[unit.state()] = d.cell;
    }
    const T slopes[] = {d.input, d.forget, d.fresh, d.output};
#pragma unroll
    for (int g = 0; g < 4; ++g) {
      step.d_a[unit.gate(g, step.d_a_stride)] = slopes[g];
      if (step.d_u != step.d_a) step.d_u[unit.gate(g, step.d_u_stride)] = slopes[g];
    }
  });
}

template <class Kernel, class Step>
void launch(Kernel kernel, const Step& step) {
  const std::int64_t count = step.rows.count * step.rows.hidden;
  if (count == 0) return;
  constexpr std::int64_t kMostUnits = std::int64_t{1} << 28;
  if (count > kMostUnits)
    fail<Unsupported>("attn::rnn: ", count, " units a step on the gpu; ", kMostUnits,
                      " are accepted");
  kernel<<<blocks_for(count, kThreads), kThreads, 0, stream()>>>(step);
  check_launch();
}

}  // namespace

// clang-format off
template <class T> void gru_step(const CellStep<T>& step) { launch(&gru_kernel<T>, step); }
template <class T> void lstm_step(const CellStep<T>& step) { launch(&lstm_kernel<T>, step); }
template <class T> void gru_step_backward(const CellStepBackward<T>& step) { launch(&gru_back_kernel<T>, step); }
template <class T> void lstm_step_backward(const CellStepBackward<T>& step) { launch(&lstm_back_kernel<T>, step); }

template void gru_step(const CellStep<float>&);
template void gru_step(const CellStep<double>&);
template void lstm_step(const CellStep<float>&);
template void lstm_step(const CellStep<double>&);
template void gru_step_backward(const CellStepBackward<float>&);
template void gru_step_backward(const CellStepBackward<double>&);
template void lstm_step_backward(const CellStepBackward<float>&);
template void lstm_step_backward(const CellStepBackward<double>&);
// clang-format on

}  // namespace attn::gpu
