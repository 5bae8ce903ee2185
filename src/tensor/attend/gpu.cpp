#include "attn/tensor/gpu.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/decode.hpp"
#include "attn/kernels/gpu/rows.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend/kernels.hpp"
#include "tensor/attend/sizes.hpp"
#include "tensor/attend/views.hpp"
#include "tensor/gpu/pairs.hpp"
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

}  // namespace

void attend_forward(const op::AttendTensors& x, const Recipe& recipe, Route route) {
  op::dispatch_storage(x.q.dtype(), [&]<class T>(T) {
    const ForwardArgs<T> args = op::forward_args<T>(x);
    if constexpr (std::is_same_v<T, float>) {
      if (route == Route::gpu_additive) {
        const Workspace workspace(additive_workspace_size(args));
        return additive_forward(args, recipe, workspace.get(), stream());
      }
    }
    if constexpr (!std::is_same_v<T, double>) {
      if (route == Route::gpu_decode) {
        const Workspace workspace(decode_workspace_size(args));
        return decode(args, recipe, workspace.get(), stream());
      }
      if (route != Route::gpu_rows) return forward(args, recipe, stream());
    }
    const Workspace workspace(rows_workspace(args));
    rows_forward(args, recipe, {}, workspace.get(), stream());
  });
}

void attend_inspect(const op::AttendTensors& x, const Recipe& recipe,
                    const op::InspectInto& to) {
  // A known log-sum-exp makes weights of scores at once.
  if (x.stat.defined() && to.weights_alone() && x.q.dtype() != DType::f64 &&
      recipe.similarity == Similarity::dot && recipe.weight_modifiers.empty() &&
      catalogue::is<normalise::Softmax>(recipe.normaliser))
    return softmax_weights(recipe, x.q, x.k, x.stat, to.weights);
  // Nothing is pooled.
  op::AttendTensors rows = x;
  rows.v = x.v.slice(3, 0, 0);
  rows.out = op::empty_like(x.q, 0);
  rows.stat = {};
  op::dispatch_storage(x.q.dtype(), [&]<class T>(T) {
    const ForwardArgs<T> args = op::forward_args<T>(rows);
    const Workspace workspace(rows_workspace(args));
    rows_forward(args, recipe, op::inspection<T>(to), workspace.get(), stream());
  });
}

void attend_backward(const op::AttendTensors& x, const Recipe& recipe,
                     const op::AttendGrads& grads, const RecipeGrads& tables) {
  op::dispatch_storage(x.q.dtype(), [&]<class T>(T) {
    const BackwardArgs<T> args = op::backward_args<T>(x, grads);
    Call call = call_of(args, recipe);
    call.on_gpu = true;
    call.capability = capability().version;
    call.shared_bytes = capability().shared_bytes;
    call.table_grads = tables.wants_scores();
    const Route chosen = route(call);
    if constexpr (std::is_same_v<T, float>) {
      if (chosen == Route::gpu_additive)
        return additive_backward(args, recipe, tables, stream());
    }
    if constexpr (!std::is_same_v<T, double>) {
      if (chosen != Route::gpu_rows) {
        const Workspace workspace(backward_workspace(args));
        return backward(args, recipe, tables, workspace.get(), stream(), determinism());
      }
    }
    if (determinism() == Determinism::repeatable && tables.wants_any())
      fail<Unsupported>(kWhere, ": gradients of tables are not repeatable on the GPU");
    const Workspace workspace(rows_backward_workspace(args));
    rows_backward(args, recipe, tables, workspace.get(), stream());
  });
}

}  // namespace attn::gpu
