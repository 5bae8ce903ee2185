#include "attn/tensor/ops/index.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/pointwise_table.hpp"
#include "tensor/gpu/engine.hpp"
#include "tensor/op.hpp"
#include "tensor/ops/axis_extents.hpp"

namespace attn {
namespace {

/// Elements are moved, not computed with: one function for each of their sizes.
template <class Run>
void dispatch_size(DType dtype, const Run& run) {
  switch (size_of(dtype)) {
    case 8:
      return run(std::uint64_t{});
    case 4:
      return run(std::uint32_t{});
    case 2:
      return run(std::uint16_t{});
    default:
      return run(std::uint8_t{});
  }
}

/// Throws unless every index lies in [0, extent).
void check_index(const Tensor& index, std::int64_t extent, const char* where) {
  const auto* numbers = index.data<std::int64_t>();
  for (std::int64_t i = 0; i < index.numel(); ++i)
    if (numbers[i] < 0 || numbers[i] >= extent)
      fail(where, ": index ", numbers[i], " along an axis of ", extent, "; 0 to ", extent - 1,
           " are accepted");
}

/// Throws unless the shapes agree on all axes but one.
void check_shapes(const Tensor& x, int axis, const Tensor& index, const char* where) {
  bool fits = x.rank() == index.rank();
  for (int i = 0; fits && i < x.rank(); ++i) fits = i == axis || x.size(i) == index.size(i);
  if (!fits)
    fail(where, ": x is ", x.text(), ", index is ", index.text(),
         "; extents that agree on all axes but axis ", axis, " are accepted");
}

template <class T>
void gather_packed(const T* x, std::int64_t extent, const op::AxisExtents& to,
                   const std::int64_t* index, T* out) {
  to.each_strip(to.extent, [&](std::int64_t outer, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = 0; i < to.extent; ++i) {
      const std::int64_t row = (outer * to.extent + i) * to.inner;
      for (std::int64_t n = first; n < last; ++n)
        out[row + n] = x[(outer * extent + index[row + n]) * to.inner + n];
    }
  });
}

template <class T>
void scatter_packed(const T* x, const op::AxisExtents& from, const std::int64_t* index,
                    std::int64_t extent, T* out) {
  from.each_strip(from.extent, [&](std::int64_t outer, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = 0; i < from.extent; ++i) {
      const std::int64_t row = (outer * from.extent + i) * from.inner;
      for (std::int64_t n = first; n < last; ++n)
        out[(outer * extent + index[row + n]) * from.inner + n] += x[row + n];
    }
  });
}

void gather_cpu(const Tensor& x, int axis, const Tensor& index, const Tensor& out) {
  check_index(index, x.size(axis), "attn::gather");
  dispatch_size(x.dtype(), [&](auto bits) {
    using T = decltype(bits);
    gather_packed(static_cast<const T*>(x.raw()), x.size(axis),
                  op::AxisExtents(index.shape(), axis), index.data<std::int64_t>(),
                  static_cast<T*>(out.mutable_raw()));
  });
}

void scatter_cpu(const Tensor& x, int axis, const Tensor& index, std::int64_t extent,
                 const Tensor& out) {
  check_index(index, extent, "attn::scatter_add");
  op::dispatch_real(x.dtype(), "attn::scatter_add", [&](auto zero) {
    using T = decltype(zero);
    scatter_packed(x.data<T>(), op::AxisExtents(x.shape(), axis), index.data<std::int64_t>(),
                   extent, out.mutable_data<T>());
  });
}

}  // namespace

Tensor gather(const Tensor& x, int axis, const Tensor& index) {
  constexpr const char* kWhere = "attn::gather";
  axis = normal_axis(axis, x.rank(), kWhere);
  op::require_dtype(index, DType::i64, kWhere, "index");
  check_shapes(x, axis, index, kWhere);
  op::require_same_device(x, index, kWhere);
  const Tensor from = x.detach().contiguous();
  const Tensor positions = index.contiguous();
  const Tensor out = Tensor::empty(index.shape(), x.dtype(), x.device());
  op::dispatch_device(
      x, [&] { gather_cpu(from, axis, positions, out); },
      [&] { gpu::gather(from, axis, positions, {kWhere, "index"}, out); });
  return op::record_one(
      "gather", x, out,
      [axis, extent = x.size(axis), saved = Saved(positions)](const Tensor& grad) {
        return scatter_add(grad, axis, saved.get(), extent);
      });
}

Tensor scatter_add(const Tensor& x, int axis, const Tensor& index, std::int64_t extent) {
  constexpr const char* kWhere = "attn::scatter_add";
  op::require_real(x, kWhere, "x");
  axis = normal_axis(axis, x.rank(), kWhere);
  op::require_dtype(index, DType::i64, kWhere, "index");
  op::require_shape(index, x.shape(), kWhere, "index");
  if (extent < 0) fail(kWhere, ": extent ", extent, "; 0 and more are accepted");
  if (op::is_half(x.dtype()))
    return scatter_add(x.to(DType::f32), axis, index, extent).to(x.dtype());
  op::require_same_device(x, index, kWhere);
  const Tensor from = x.detach().contiguous();
  const Tensor positions = index.contiguous();
  Shape shape = x.shape();
  shape[axis] = extent;
  const Tensor out = Tensor::zeros(shape, x.dtype(), x.device());
  op::dispatch_device(
      x, [&] { scatter_cpu(from, axis, positions, extent, out); },
      [&] { gpu::scatter_add(from, axis, positions, {kWhere, "index"}, out); });
  return op::record_one("scatter_add", x, out,
                        [axis, saved = Saved(positions)](const Tensor& grad) {
                          return gather(grad, axis, saved.get());
                        });
}

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

Tensor backward_of(const Tensor& grad, const Shape& shape, int axis, const Tensor& index) {
  if (op::is_half(grad.dtype()))
    return backward_of(grad.to(DType::f32), shape, axis, index).to(grad.dtype());
  const Tensor out = Tensor::empty(shape, grad.dtype(), grad.device());
  const Tensor packed = grad.contiguous();
  op::dispatch_device_and_real(
      grad, "attn::index_select", [&]<class T>(T) { add_back<T>(packed, axis, index, out); },
      [&] { gpu::add_places(packed, axis, index, out); });
  return out;
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
  return op::record_one(where, x, out,
                        [axis, full = x.shape(), saved = Saved(places)](const Tensor& grad) {
                          return backward_of(grad, full, axis, saved.get());
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
