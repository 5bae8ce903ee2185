#include "attn/tensor/ops/rotary.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/sizes.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

constexpr const char* kWhere = "attn::rotary";

/// [batch, heads, positions, channels] over a tensor that may lack heads.
template <class T>
View<T, 4> rows_of(const Tensor& x, T* data) {
  const Shape& shape = x.shape();
  const Shape& strides = x.strides();
  if (x.rank() == 4)
    return {data,
            {shape[0], shape[1], shape[2], shape[3]},
            {strides[0], strides[1], strides[2], strides[3]}};
  return {data, {shape[0], 1, shape[1], shape[2]}, {strides[0], 0, strides[1], strides[2]}};
}

/// Turns shared by the batch have stride 0 along it.
template <class T>
View<const T, 3> turns_of(const Tensor& table, std::int64_t batch) {
  const std::int64_t step = table.size(0) == 1 ? 0 : table.strides()[0];
  return {op::numbers<const T>(table),
          {batch, table.size(1), table.size(2)},
          {step, table.strides()[1], table.strides()[2]}};
}

Tensor turn(const Tensor& x, const Tensor& cos, const Tensor& sin, RotaryPairs pairs) {
  const Tensor out = x.rank() == 4 ? op::empty_like(x, x.size(3))
                                   : Tensor::empty(x.shape(), x.dtype(), x.device());
  op::dispatch_real(x.dtype(), kWhere, [&]<class T>(T) {
    const RotaryArgs<T> args{.x = rows_of(x, op::numbers<const T>(x)),
                             .cos = turns_of<T>(cos, x.size(0)),
                             .sin = turns_of<T>(sin, x.size(0)),
                             .out = rows_of(out, op::numbers<T>(out)),
                             .pairs = pairs};
    op::dispatch_device(x, [&] { rotate(args); }, [&] { gpu::rotate(args, gpu::stream()); });
  });
  return out;
}

void check(const Tensor& x, const RotaryTable& table) {
  op::require_real(x, kWhere, "x");
  if (x.rank() != 3 && x.rank() != 4)
    fail(kWhere, ": x is ", x.text(),
         "; [batch, heads, positions, channels] and [batch, positions, channels] are accepted");
  op::require_real(table.cos, kWhere, "the table");
  const Shape& turns = table.cos.shape();
  if (turns.rank() != 3 || (turns[0] != 1 && turns[0] != x.size(0)) || turns[1] != x.size(-2) ||
      2 * turns[2] > x.size(-1))
    fail(kWhere, ": a table ", table.cos.text(), " for x ", x.text(),
         "; [1 or batch, positions, at most half the channels] is accepted");
}

template <class T>
void fill_turns(const Tensor& positions, const RotaryOptions& options, const Tensor& cos,
                const Tensor& sin) {
  const std::int64_t pairs = cos.size(2);
  std::vector<double> rates;
  rates.reserve(static_cast<std::size_t>(pairs));
  for (std::int64_t c = 0; c < pairs; ++c)
    rates.push_back(
        std::pow(options.base, -static_cast<double>(c) / static_cast<double>(pairs)));
  const std::int64_t* at = positions.data<std::int64_t>();
  T* cosine = cos.mutable_data<T>();
  T* sine = sin.mutable_data<T>();
  // A sine costs some 20 of the multiply-adds that kGrain counts.
  op::each(positions.numel(), 20 * pairs, [&](std::int64_t i) {
    for (std::int64_t c = 0; c < pairs; ++c) {
      const double angle = static_cast<double>(at[i]) * rates[static_cast<std::size_t>(c)];
      cosine[i * pairs + c] = static_cast<T>(std::cos(angle));
      sine[i * pairs + c] = static_cast<T>(std::sin(angle));
    }
  });
}

RotaryOptions for_channels(RotaryOptions options, const Tensor& x) {
  op::require_real(x, kWhere, "x");
  if (x.rank() < 2) fail(kWhere, ": x is ", x.text(), "; 3 or 4 axes are accepted");
  if (options.rotary_dim < 0) options.rotary_dim = x.size(-1);
  return options;
}

}  // namespace

RotaryTable rotary_table(const Tensor& positions, const RotaryOptions& options, DType dtype) {
  op::require_dtype(positions, DType::i64, kWhere, "positions");
  if (positions.rank() != 1 && positions.rank() != 2)
    fail(kWhere, ": positions ", positions.text(),
         "; [positions] and [batch, positions] are accepted");
  if (options.rotary_dim < 0 || options.rotary_dim % 2 != 0)
    fail(kWhere, ": rotary_dim ", options.rotary_dim, "; an even number is accepted");
  if (!(options.base > 0.0)) fail(kWhere, ": base ", options.base, "; above 0 is accepted");
  const std::int64_t batch = positions.rank() == 2 ? positions.size(0) : 1;
  const Shape shape{batch, positions.size(-1), options.rotary_dim / 2};
  const RotaryTable table{Tensor::empty(shape, dtype), Tensor::empty(shape, dtype),
                          options.pairs};
  const Tensor packed = positions.to(Device::cpu).contiguous();
  op::dispatch_real(dtype, kWhere,
                    [&]<class T>(T) { fill_turns<T>(packed, options, table.cos, table.sin); });
  return table;
}

Tensor rotary(const Tensor& x, const RotaryTable& table) {
  check(x, table);
  if (op::is_half(x.dtype())) return rotary(x.to(DType::f32), table).to(x.dtype());
  // Tables are made on the CPU.
  const Tensor cos = table.cos.detach().to(x.device()).to(x.dtype());
  const Tensor sin = table.sin.detach().to(x.device()).to(x.dtype());
  return op::record_one(
      "rotary", x, turn(x, cos, sin, table.pairs),
      [cos = Saved(cos), sin = Saved(sin), pairs = table.pairs](const Tensor& grad) {
        return turn(grad, cos.get(), neg(sin.get()), pairs);
      });
}

Tensor rotary(const Tensor& x, const Tensor& positions, const RotaryOptions& options) {
  return rotary(x, rotary_table(positions, for_channels(options, x), op::sum_dtype(x)));
}

Tensor rotary(const Tensor& x, std::int64_t offset, const RotaryOptions& options) {
  const RotaryOptions whole = for_channels(options, x);
  const Tensor positions = Tensor::empty({x.size(-2)}, DType::i64);
  auto* first = positions.mutable_data<std::int64_t>();
  std::iota(first, first + x.size(-2), offset);
  return rotary(x, rotary_table(positions, whole, op::sum_dtype(x)));
}

}  // namespace attn
