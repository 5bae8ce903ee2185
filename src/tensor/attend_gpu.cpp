#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/additive.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/tensor/gpu.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/attend_kernels.hpp"
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

/// run(T{}) for the types that kernels of the GPU take.
template <class Run>
void dispatch(const Tensor& q, const Run& run) {
  op::dispatch_storage(q.dtype(), [&]<class T>(T zero) {
    if constexpr (std::is_same_v<T, double>) {
      fail<Unsupported>(kWhere, ": ", q.text(), " on the gpu; f32, bf16 and f16 are accepted");
    } else {
      run(zero);
    }
  });
}

void require_f32(const Tensor& q) {
  if (q.dtype() != DType::f32)
    fail<Unsupported>(kWhere, ": additive attention on ", q.text(),
                      " on the gpu; f32 is accepted");
}

/// Dot products and the additive similarity have kernels.
bool is_additive(const Recipe& recipe) {
  if (recipe.similarity == Similarity::additive) return true;
  if (recipe.similarity == Similarity::dot) return false;
  fail<Unsupported>(kWhere,
                    ": this similarity on the gpu; dot products and additive attention are "
                    "built there");
}

}  // namespace

void attend_forward(const op::AttendInputs& in, const Recipe& recipe,
                    const op::AttendOutputs& to) {
  if (is_additive(recipe)) {
    require_f32(in.q);
    ForwardArgs<float> args = op::forward_args<float>(in);
    args.out = op::view<float, 4>(to.out);
    args.stat = op::view<float, 3>(to.stat);
    const Workspace workspace(additive_workspace_size(args));
    return additive_forward(args, recipe, workspace.get(), stream());
  }
  dispatch(in.q, [&]<class T>(T) {
    ForwardArgs<T> args = op::forward_args<T>(in);
    args.out = op::view<T, 4>(to.out);
    args.stat = op::view<float, 3>(to.stat);
    forward(args, recipe, stream());
  });
}

void attend_backward(const op::AttendInputs& in, const Recipe& recipe,
                     const op::AttendGrads& grads, const RecipeGrads& tables) {
  if (is_additive(recipe)) {
    require_f32(in.q);
    return additive_backward(op::backward_args<float>(in, grads), recipe, tables, stream());
  }
  dispatch(in.q, [&]<class T>(T) {
    const BackwardArgs<T> args = op::backward_args<T>(in, grads);
    const Workspace workspace(backward_workspace(args));
    backward(args, recipe, tables, workspace.get(), stream(), determinism());
  });
}

}  // namespace attn::gpu
