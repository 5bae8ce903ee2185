// Rows of a table, and places along an axis: both choose slices, and both add the gradients of
// a slice that was chosen several times.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/axis_extents.hpp"

namespace attn {
namespace {

/// For each of `extent` places, who chose it, in rising order: a counting sort.
class Choosers {
 public:
  Choosers(std::int64_t extent, const Tensor& index)
      : starts_(static_cast<std::size_t>(extent) + 2),
        order_(static_cast<std::size_t>(index.numel())) {
    const auto* places = index.data<std::int64_t>();
    for (std::int64_t i = 0; i < index.numel(); ++i) ++starts_[at(places[i]) + 2];
    for (std::size_t p = 2; p < starts_.size(); ++p) starts_[p] += starts_[p - 1];
    // Filling moves each start to its end, which is the start of the next place.
    for (std::int64_t i = 0; i < index.numel(); ++i)
      order_[at(starts_[at(places[i]) + 1]++)] = i;
  }

  /// Calls run(who) for everybody who chose the place.
  template <class Run>
  void of(std::int64_t place, const Run& run) const {
    for (std::int64_t i = starts_[at(place)]; i < starts_[at(place) + 1]; ++i)
      run(order_[at(i)]);
  }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::vector<std::int64_t> starts_;
  std::vector<std::int64_t> order_;
};

/// [outer, count, inner] from [outer, extent, inner].
void choose(const Tensor& x, const op::AxisExtents& from, const Tensor& index,
            const Tensor& out) {
  const std::size_t bytes = static_cast<std::size_t>(from.inner) * size_of(x.dtype());
  const auto step = static_cast<std::int64_t>(bytes);
  const auto* source = static_cast<const std::byte*>(x.raw());
  auto* target = static_cast<std::byte*>(out.mutable_raw());
  const auto* places = index.data<std::int64_t>();
  const std::int64_t count = index.numel();
  op::each(from.outer * count, from.inner, [&](std::int64_t row) {
    const std::int64_t place = row / count * from.extent + places[row % count];
    std::memcpy(target + row * step, source + place * step, bytes);
  });
}

/// The gradient of choose(): each place of the table is written by one thread, in index order.
template <class T>
void add_back(const Tensor& grad, int axis, const Tensor& index, const Tensor& out) {
  const op::AxisExtents to(out.shape(), axis);
  const Choosers choosers(to.extent, index);
  const std::int64_t count = index.numel();
  const T* from = grad.data<T>();
  T* target = out.mutable_data<T>();
  op::each(to.outer * to.extent, to.inner, [&](std::int64_t row) {
    T* sum = target + row * to.inner;
    std::fill_n(sum, to.inner, T(0));
    const T* first = from + row / to.extent * count * to.inner;
    choosers.of(row % to.extent, [&](std::int64_t who) {
      cpu::accumulate(to.inner, first + who * to.inner, sum);
    });
  });
}

Gradients backward_of(const Tensor& grad, const Shape& shape, int axis, const Tensor& index) {
  if (op::is_half(grad.dtype()))
    return {backward_of(grad.to(DType::f32), shape, axis, index)[0].to(grad.dtype())};
  const Tensor out = Tensor::empty(shape, grad.dtype(), grad.device());
  const Tensor packed = grad.contiguous();
  op::dispatch_device_and_real(
      grad, "attn::index_select", [&]<class T>(T) { add_back<T>(packed, axis, index, out); },
      [&] { gpu::add_places(packed, axis, index, out); });
  return {out};
}

void check_places(const Tensor& x, int axis, const Tensor& places, const char* where,
                  const char* what) {
  const auto* numbers = places.data<std::int64_t>();
  for (std::int64_t i = 0; i < places.numel(); ++i)
    if (numbers[i] < 0 || numbers[i] >= x.size(axis))
      fail(where, ": ", what, " ", numbers[i], " in axis ", axis, " of ", x.text(), "; 0 to ",
           x.size(axis) - 1, " are accepted");
}

/// index_select() of a checked axis; `what` names a number of `index` in messages.
Tensor select_places(const Tensor& x, int axis, const Tensor& index, const char* where,
                     const char* what) {
  op::require_same_device(x, index, where);
  const Tensor places = index.contiguous();
  Shape shape = x.shape();
  shape[axis] = places.numel();
  const Tensor out = Tensor::empty(shape, x.dtype(), x.device());
  const Tensor packed = x.detach().contiguous();
  op::dispatch_device(
      x,
      [&] {
        check_places(x, axis, places, where, what);
        choose(packed, op::AxisExtents(x.shape(), axis), places, out);
      },
      [&] { gpu::choose_places(packed, axis, places, {where, what}, out); });
  return record(
      where, {x}, out,
      [axis, full = x.shape(), saved = Saved(places)](const Gradients& grads, const Needs&) {
        return backward_of(grads[0], full, axis, saved.get());
      });
}

}  // namespace

Tensor index_select(const Tensor& x, int axis, const Tensor& index) {
  constexpr const char* kWhere = "attn::index_select";
  axis = normal_axis(axis, x.rank(), kWhere);
  op::require_dtype(index, DType::i64, kWhere, "index");
  if (index.rank() != 1) fail(kWhere, ": index is ", index.text(), "; [count] is accepted");
  return select_places(x, axis, index, kWhere, "index");
}

Tensor embedding(const Tensor& weight, const Tensor& ids) {
  constexpr const char* kWhere = "attn::embedding";
  op::require_real(weight, kWhere, "weight");
  op::require_dtype(ids, DType::i64, kWhere, "ids");
  if (weight.rank() != 2)
    fail(kWhere, ": weight is ", weight.text(), "; [rows, features] is accepted");
  Shape shape = ids.shape();
  shape.push_back(weight.size(1));
  return select_places(weight, 0, ids.reshape({ids.numel()}), kWhere, "id").reshape(shape);
}

}  // namespace attn
