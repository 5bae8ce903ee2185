#include "tensor/attend/kernels.hpp"

#include <type_traits>

#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/reference/attention.hpp"
#include "attn/kernels/route.hpp"
#include "tensor/attend/views.hpp"
#include "tensor/op.hpp"

namespace attn::op {

bool InspectInto::any() const {
  return weights.defined() || column_sums.defined() || distance_sums.defined() ||
         arg_max.defined() || top_keys.defined();
}

bool InspectInto::weights_alone() const {
  InspectInto rest = *this;
  rest.weights = {};
  return weights.defined() && !rest.any();
}

void attend_forward(const AttendTensors& x, const Recipe& recipe, Route route) {
  if (on_gpu(x.q)) return gpu::attend_forward(x, recipe, route);
  dispatch_storage(x.q.dtype(), [&]<class T>(T) {
    const ForwardArgs<T> args = forward_args<T>(x);
    if constexpr (!std::is_same_v<T, double>) {
      if (route != Route::reference) return cpu::forward(args, recipe);
    }
    reference::forward(args, recipe);
    note_route(Route::reference);
  });
}

void attend_inspect(const AttendTensors& x, const Recipe& recipe, const InspectInto& to) {
  if (on_gpu(x.q)) return gpu::attend_inspect(x, recipe, to);
  dispatch_storage(x.q.dtype(), [&]<class T>(T) {
    ForwardArgs<T> args = forward_args<T>(x);
    // Those of the forward, whose rounding may be another, stay for the backward.
    args.similarities = {};
    if constexpr (std::is_same_v<T, double>) {
      reference::inspect(args, recipe, inspection<T>(to));
    } else {
      cpu::inspect(args, recipe, inspection<T>(to));
    }
  });
}

void attend_backward(const AttendTensors& x, const Recipe& recipe, const AttendGrads& grads,
                     const RecipeGrads& tables) {
  if (on_gpu(x.q)) return gpu::attend_backward(x, recipe, grads, tables);
  dispatch_storage(x.q.dtype(), [&]<class T>(T) {
    const BackwardArgs<T> args = backward_args<T>(x, grads);
    if constexpr (!std::is_same_v<T, double>) {
      if (route(call_of(args, recipe)) != Route::reference)
        return cpu::backward(args, recipe, tables);
    }
    reference::backward(args, recipe, tables);
  });
}

}  // namespace attn::op
