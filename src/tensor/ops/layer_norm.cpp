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
Tensor forward(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
               const Tensor& moments) {
  const Tensor out = Tensor::empty(x.shape(), x.dtype());
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
  return out;
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

/// x in any type of real numbers; weight and bias in f32, f64 beside f64.
Tensor layer_norm_gpu(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const DType wide = op::sum_dtype(x);
  for (const Tensor& table : {weight, bias}) {
    if (!table.defined()) continue;
    op::require_dtype(table, wide, kWhere, "weight or bias");
    op::require_same_device(x, table, kWhere);
  }
  const Tensor packed = x.detach().contiguous();
  const Tensor w = op::packed_or_none(weight);
  const std::int64_t rows = x.size(-1) == 0 ? 0 : x.numel() / x.size(-1);
  const Tensor moments = Tensor::empty({rows, 2}, wide, Device::gpu);
  const Tensor out = Tensor::empty(x.shape(), x.dtype(), Device::gpu);
  gpu::layer_norm(packed, w, op::packed_or_none(bias), eps, moments, out);
  return record("layer_norm", {x, weight, bias}, out,
                [saved_x = Saved(packed), saved_weight = Saved(w), saved = Saved(moments)](
                    const Gradients& grads, const Needs& needs) -> Gradients {
                  const Tensor& in = saved_x.get();
                  const Tensor dx =
                      needs[0] ? Tensor::empty(in.shape(), in.dtype(), Device::gpu) : Tensor();
                  const Tensor sums =
                      needs[1] || needs[2]
                          ? Tensor::zeros({2, in.size(-1)}, saved.get().dtype(), Device::gpu)
                          : Tensor();
                  gpu::layer_norm_backward(in, saved_weight.get(), saved.get(),
                                           grads[0].contiguous(), dx, sums);
                  return {dx, needs[1] ? sums.select(0, 0) : Tensor(),
                          needs[2] ? sums.select(0, 1) : Tensor()};
                });
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check(x, weight, bias);
  if (op::on_gpu(x)) {
    const bool half = op::is_half(x.dtype());
    return layer_norm_gpu(x, half ? op::widened(weight) : weight,
                          half ? op::widened(bias) : bias, eps);
  }
  if (op::is_half(x.dtype()))
    return layer_norm(x.to(DType::f32), op::widened(weight), op::widened(bias), eps)
        .to(x.dtype());
  if (weight.defined()) op::require_same_kind(x, weight, kWhere);
  if (bias.defined()) op::require_same_kind(x, bias, kWhere);

  const Tensor packed = x.detach().contiguous();
  const Tensor w = op::packed_or_none(weight);
  const Tensor b = op::packed_or_none(bias);
  const std::int64_t rows = x.size(-1) == 0 ? 0 : x.numel() / x.size(-1);
  const Tensor moments = Tensor::empty({rows, 2}, x.dtype());
  return op::dispatch_real(x.dtype(), kWhere, [&](auto zero) {
    using T = decltype(zero);
    const Tensor out = forward<T>(packed, w, b, eps, moments);
    return record("layer_norm", {x, weight, bias}, out,
                  [saved_x = Saved(packed), saved_weight = Saved(w),
                   saved_moments = Saved(moments)](const Gradients& grads, const Needs& needs) {
                    return backward_of<T>(grads[0].contiguous(), saved_x.get(),
                                          saved_weight.get(), saved_moments.get(), needs);
                  });
  });
}

}  // namespace attn
