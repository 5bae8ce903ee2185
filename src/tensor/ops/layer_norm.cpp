// Layer normalisation of the last axis as an op.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/cpu/rows_table.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

constexpr const char* kWhere = "attn::layer_norm";

/// Also writes mean and scale of each row to moments [rows, 2].
template <class T>
void forward(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
             const Tensor& moments, const Tensor& out) {
  const std::int64_t count = x.size(-1);
  const T* from = x.data<T>();
  const T* w = op::numbers_or_null<T>(weight);
  const T* b = op::numbers_or_null<T>(bias);
  T* to = out.mutable_data<T>();
  T* moment = moments.mutable_data<T>();
  const auto kernel = cpu::row_table<T>().layer_norm;
  op::each(moments.size(0), count, [&](std::int64_t row) {
    const cpu::RowMoments<T> row_moments =
        kernel(count, from + row * count, w, b, static_cast<T>(eps), to + row * count);
    moment[2 * row] = row_moments.mean;
    moment[2 * row + 1] = row_moments.scale;
  });
}

/// Rows are summed in at most kMost blocks, each into numbers of its own.
struct RowBlocks {
  static constexpr std::int64_t kMost = 64;
  std::int64_t rows;
  std::int64_t size;   ///< rows of a block
  std::int64_t count;  ///< blocks

  RowBlocks(std::int64_t all_rows, std::int64_t numbers)
      : rows(all_rows),
        size(std::max({std::int64_t{1}, op::kGrain / std::max<std::int64_t>(1, numbers),
                       (all_rows + kMost - 1) / kMost})),
        count((all_rows + size - 1) / size) {}

  /// Calls run(block, first row, last row + 1).
  template <class Run>
  void each(const Run& run) const {
    op::in_blocks(count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t block = begin; block < end; ++block)
        run(block, block * size, std::min(rows, (block + 1) * size));
    });
  }
};

/// to[i] = the sum of parts[block, i] over the blocks, in order.
template <class T>
void sum_blocks(std::int64_t blocks, std::int64_t numbers, const T* parts, T* to) {
  std::fill_n(to, numbers, T(0));
  const std::int64_t grain =
      std::max<std::int64_t>(1024, op::kGrain / std::max<std::int64_t>(1, blocks));
  op::in_blocks(numbers, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = 0; block < blocks; ++block)
      cpu::accumulate(end - begin, parts + block * numbers + begin, to + begin);
  });
}

/// One buffer of sums for each block of rows, or none.
template <class T>
struct Partial {
  Partial(bool wanted, std::int64_t blocks, std::int64_t numbers)
      : count(numbers), sums(wanted ? static_cast<std::size_t>(blocks * numbers) : 0) {}
  T* block(std::int64_t index) { return sums.empty() ? nullptr : sums.data() + index * count; }
  Tensor total(bool wanted, std::int64_t blocks, DType dtype) const {
    if (!wanted) return {};
    const Tensor result = Tensor::empty({count}, dtype);
    sum_blocks(blocks, count, sums.data(), result.mutable_data<T>());
    return result;
  }

  std::int64_t count;
  std::vector<T> sums;
};

template <class T>
Gradients backward_of(const Tensor& grad, const Tensor& x, const Tensor& weight,
                      const Tensor& moments, const Needs& needs) {
  const std::int64_t count = x.size(-1);
  const RowBlocks blocks(moments.size(0), count);
  const Tensor dx = needs[0] ? Tensor::empty(x.shape(), x.dtype()) : Tensor();
  Partial<T> d_weight(needs[1], blocks.count, count);
  Partial<T> d_bias(needs[2], blocks.count, count);

  const T* gradients = grad.data<T>();
  const T* numbers = x.data<T>();
  const T* w = op::numbers_or_null<T>(weight);
  const T* moment = moments.data<T>();
  T* to = dx.defined() ? dx.mutable_data<T>() : nullptr;
  const auto kernel = cpu::row_table<T>().layer_norm_backward;
  blocks.each([&](std::int64_t block, std::int64_t begin, std::int64_t end) {
    const cpu::LayerNormShared<T> shared{count, w, d_weight.block(block), d_bias.block(block)};
    for (std::int64_t row = begin; row < end; ++row)
      kernel(shared, numbers + row * count, gradients + row * count,
             {moment[2 * row], moment[2 * row + 1]},
             to == nullptr ? nullptr : to + row * count);
  });
  return {dx, d_weight.total(needs[1], blocks.count, x.dtype()),
          d_bias.total(needs[2], blocks.count, x.dtype())};
}

void check(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  op::require_real(x, kWhere, "x");
  if (x.rank() == 0) fail(kWhere, ": x is ", x.text(), "; one axis or more is accepted");
  for (const auto& [table, name] : {std::pair{weight, "weight"}, std::pair{bias, "bias"}}) {
    if (!table.defined()) continue;
    op::require_real(table, kWhere, name);
    op::require_shape(table, {x.size(-1)}, kWhere, name);
  }
}

Gradients backward_gpu(const Tensor& grad, const Tensor& x, const Tensor& weight,
                       const Tensor& moments, const Needs& needs) {
  const Tensor dx = needs[0] ? Tensor::empty(x.shape(), x.dtype(), Device::gpu) : Tensor();
  const Tensor sums = needs[1] || needs[2]
                          ? Tensor::zeros({2, x.size(-1)}, moments.dtype(), Device::gpu)
                          : Tensor();
  gpu::layer_norm_backward(x, weight, moments, grad, dx, sums);
  return {dx, needs[1] ? sums.select(0, 0) : Tensor(), needs[2] ? sums.select(0, 1) : Tensor()};
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check(x, weight, bias);
  if (op::is_widened(x))
    return layer_norm(op::widened(x), op::widened(weight), op::widened(bias), eps)
        .to(x.dtype());
  // Weight and bias are of the type that sums of x run in.
  const bool half = op::is_half(x.dtype());
  const Tensor scale = half ? op::widened(weight) : weight;
  const Tensor shift = half ? op::widened(bias) : bias;
  for (const Tensor& table : {scale, shift}) {
    if (!table.defined()) continue;
    if (!half) op::require_same_kind(x, table, kWhere);
    op::require_same_device(x, table, kWhere);
  }
  const Tensor packed = x.detach().contiguous();
  const Tensor w = op::packed_or_none(scale);
  const Tensor b = op::packed_or_none(shift);
  const std::int64_t rows = x.size(-1) == 0 ? 0 : x.numel() / x.size(-1);
  const Tensor moments = Tensor::empty({rows, 2}, op::sum_dtype(x), x.device());
  const Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  op::dispatch_device_and_real(
      x, kWhere, [&]<class T>(T) { forward<T>(packed, w, b, eps, moments, out); },
      [&] { gpu::layer_norm(packed, w, b, eps, moments, out); });
  return record("layer_norm", {x, scale, shift}, out,
                [saved_x = Saved(packed), saved_weight = Saved(w), saved = Saved(moments)](
                    const Gradients& grads, const Needs& needs) {
                  const Tensor grad = grads[0].contiguous();
                  const auto backward = [&](const auto& run) {
                    return run(grad, saved_x.get(), saved_weight.get(), saved.get(), needs);
                  };
                  return op::dispatch_device_and_real(
                      grad, kWhere, [&]<class T>(T) { return backward(backward_of<T>); },
                      [&] { return backward(backward_gpu); });
                });
}

}  // namespace attn
