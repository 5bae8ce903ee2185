#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/additive.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/rows.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend_kernels.hpp"
#include "tensor/attend_sizes.hpp"
#include "tensor/attend_views.hpp"
#include "tensor/gpu/attend.hpp"
#include "tensor/op.hpp"

namespace attn::gpu {
namespace {

constexpr const char* kWhere = "attn::attend";

/// Memory to work in, given back once what is queued has used it.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes)
      : memory_(bytes == 0 ? Tensor()
                           : Tensor::empty({static_cast<std::int64_t>(bytes)}, DType::boolean,
                                           Device::gpu)) {}
  void* get() const { return memory_.defined() ? op::address(memory_) : nullptr; }

 private:
  Tensor memory_;
};

/// Doubles have plain kernels alone.
template <class T>
inline constexpr bool kHasFused = !std::is_same_v<T, double>;

template <class T>
RowsInspection<StatOf<T>> inspection_of(const op::InspectInto& to) {
  using S = StatOf<T>;
  return {.all = op::view<S, 4>(to.weights),
          .top_keys = op::view<std::int64_t, 4>(to.top_keys),
          .top_weights = op::view<S, 4>(to.top_weights),
          .column_sums = op::view<S, 3>(to.column_sums),
          .distance_sums = op::view<S, 4>(to.distance_sums),
          .distance_offset = to.distance_offset,
          .arg_max = op::view<std::int64_t, 3>(to.arg_max)};
}

template <class T>
bool is_fused(const ForwardArgs<T>& args, const Recipe& recipe) {
  return kHasFused<T> && serves(recipe, args.q.shape[3], args.v.shape[3]);
}
template <class T>
bool is_fused(const BackwardArgs<T>& args, const Recipe& recipe) {
  return kHasFused<T> && !args.d_weights.given() &&
         serves(recipe, args.q.shape[3], args.v.shape[3]);
}

bool wants_tables(const RecipeGrads& grads) {
  const auto any = [](const auto& slots) {
    return std::any_of(slots.begin(), slots.end(),
                       [](const TableGrad& grad) { return grad.data != nullptr; });
  };
  return grads.weights.data != nullptr || any(grads.normaliser) ||
         std::any_of(grads.scores.begin(), grads.scores.end(), any) ||
         std::any_of(grads.factors.begin(), grads.factors.end(), any);
}

}  // namespace

void attend_forward(const op::AttendInputs& in, const Recipe& recipe,
                    const op::AttendOutputs& to) {
  op::dispatch_storage(in.q.dtype(), [&]<class T>(T) {
    ForwardArgs<T> args = op::forward_args<T>(in);
    args.out = op::view<T, 4>(to.out);
    args.stat = op::view<StatOf<T>, 3>(to.stat);
    if constexpr (std::is_same_v<T, float>) {
      if (additive_serves(args, recipe)) {
        const Workspace workspace(additive_workspace_size(args));
        return additive_forward(args, recipe, workspace.get(), stream());
      }
    }
    if constexpr (kHasFused<T>) {
      if (is_fused(args, recipe)) return forward(args, recipe, stream());
    }
    const Workspace workspace(rows_workspace(args));
    rows_forward(args, recipe, {}, workspace.get(), stream());
  });
}

void attend_inspect(const op::AttendInputs& in, const Recipe& recipe,
                    const op::InspectInto& to) {
  // Nothing is pooled.
  const Tensor none = in.v.slice(3, 0, 0);
  const Tensor out = op::empty_like(in.q, 0);
  op::dispatch_storage(in.q.dtype(), [&]<class T>(T) {
    ForwardArgs<T> args = op::forward_args<T>({in.q, in.k, none});
    args.out = op::view<T, 4>(out);
    const Workspace workspace(rows_workspace(args));
    rows_forward(args, recipe, inspection_of<T>(to), workspace.get(), stream());
  });
}

void attend_backward(const op::AttendInputs& in, const Recipe& recipe,
                     const op::AttendGrads& grads, const RecipeGrads& tables) {
  op::dispatch_storage(in.q.dtype(), [&]<class T>(T) {
    const BackwardArgs<T> args = op::backward_args<T>(in, grads);
    if constexpr (std::is_same_v<T, float>) {
      if (additive_serves(args, recipe, tables))
        return additive_backward(args, recipe, tables, stream());
    }
    if constexpr (kHasFused<T>) {
      if (is_fused(args, recipe)) {
        const Workspace workspace(backward_workspace(args));
        return backward(args, recipe, tables, workspace.get(), stream(), determinism());
      }
    }
    if (determinism() == Determinism::repeatable && wants_tables(tables))
      fail<Unsupported>(kWhere, ": gradients of tables are not repeatable on the GPU");
    const Workspace workspace(rows_backward_workspace(args));
    rows_backward(args, recipe, tables, workspace.get(), stream());
  });
}

}  // namespace attn::gpu
