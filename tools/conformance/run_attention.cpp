// Runs a case of an attention operator through the kernels and the reference.

#include <array>
#include <cstdint>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/view.hpp"
#include "attn/files/array.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/decode.hpp"
#include "attn/kernels/gpu/rows.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/reference/attention.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/gpu.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/memory.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {
namespace {

std::array<std::int64_t, 4> out_shape(const AttentionProblem& problem) {
  return {problem.q_shape[0], problem.q_shape[1], problem.q_shape[2], problem.v_shape[3]};
}

template <class T>
ForwardArgs<T> args_of(Memory& memory, const AttentionProblem& problem, Array& out) {
  return {.q = view4(memory.read<T>(problem.q), problem.q_shape, problem.q_rank),
          .k = view4(memory.read<T>(problem.k), problem.k_shape, 4),
          .v = view4(memory.read<T>(problem.v), problem.v_shape, 4),
          .out = view4(memory.write<T>(out), out_shape(problem), problem.q_rank)};
}

template <class T>
void forward_on_gpu(Path::Kind kind, Memory& memory, const ForwardArgs<T>& args,
                    const Recipe& recipe) {
  if constexpr (!std::is_same_v<T, double>) {
    attn::Call call = call_of(args, recipe);
    call.on_gpu = true;
    if (kind == Path::Kind::gpu_decode && serves(Route::gpu_decode, call))
      return gpu::decode(args, recipe, memory.workspace(gpu::decode_workspace_size(args)),
                         gpu::stream());
    if (kind != Path::Kind::gpu_rows && serves(Route::gpu_general, call))
      return gpu::forward(args, recipe, gpu::stream());
  }
  gpu::rows_forward(args, recipe, {}, memory.workspace(gpu::rows_workspace(args)),
                    gpu::stream());
}

}  // namespace

void check_problem(const AttentionProblem& problem) {
  const auto& [batch, heads, queries, channels] = problem.q_shape;
  const auto& [k_batch, kv_heads, keys, k_channels] = problem.k_shape;
  const auto& v = problem.v_shape;
  if (k_batch != batch || k_channels != channels)
    fail<FileError>("Q ", files::shape_text(problem.q_shape), " and K ",
                    files::shape_text(problem.k_shape),
                    " must have the same batch and channels");
  if (v[0] != batch || v[1] != kv_heads || v[2] != keys)
    fail<FileError>("K ", files::shape_text(problem.k_shape), " and V ", files::shape_text(v),
                    " must have the same batch, heads and keys");
  if (kv_heads < 1 || heads % kv_heads != 0)
    fail<FileError>(heads, " query heads are not a multiple of ", kv_heads, " kv heads");
  checked_volume(std::array{batch, heads, queries, keys, channels + v[3] + 1}, kMaxWork,
                 "a problem of");
}

Array run_forward(const Path& path, const AttentionProblem& problem, const Recipe& recipe) {
  const auto shape = out_shape(problem);
  Array out = make_array(problem.q.dtype, problem.q_rank == 4
                                              ? Shape(shape.begin(), shape.end())
                                              : Shape{shape[0], shape[2], shape[1] * shape[3]});
  with_float_type(out.dtype, [&](auto zero) {
    using T = decltype(zero);
    Memory memory(path);
    const ForwardArgs<T> args = args_of<T>(memory, problem, out);
    if (path.is_gpu()) {
      forward_on_gpu(path.kind, memory, args, recipe);
      return memory.finish();
    }
    if (path.kind == Path::Kind::reference) return reference::forward(args, recipe);
    if constexpr (!std::is_same_v<T, double>) cpu::forward(args, recipe, path.context);
  });
  return out;
}

Array run_scores(const Path& path, const AttentionProblem& problem, const Recipe& recipe,
                 int modifiers, bool masked) {
  const auto& [batch, heads, queries, channels] = problem.q_shape;
  const std::int64_t keys = problem.k_shape[2];
  Array scores = make_array(problem.q.dtype == DType::f64 ? DType::f64 : DType::f32,
                            {batch, heads, queries, keys});
  with_float_type(problem.q.dtype, [&](auto zero) {
    using T = decltype(zero);
    Array unused = make_array(problem.q.dtype, {batch, heads, queries, problem.v_shape[3]});
    Memory memory(path);
    const ForwardArgs<T> args = args_of<T>(memory, problem, unused);
    const auto view =
        packed<StatOf<T>>(memory.write<StatOf<T>>(scores), batch, heads, queries, keys);
    if (path.is_gpu()) {
      void* workspace = memory.workspace(gpu::rows_workspace(args));
      if (modifiers < 0) {
        gpu::rows_forward(args, recipe, {.all = view}, workspace, gpu::stream());
      } else {
        gpu::rows_scores(args, recipe, modifiers, masked, view, workspace, gpu::stream());
      }
      return memory.finish();
    }
    if (path.kind == Path::Kind::reference) {
      if (modifiers < 0) return reference::weights(args, recipe, view);
      return reference::scores(args, recipe, modifiers, masked, view);
    }
    if constexpr (!std::is_same_v<T, double>) {
      if (modifiers < 0) return cpu::weights(args, recipe, view, path.context);
      cpu::scores(args, recipe, modifiers, masked, view, path.context);
    }
  });
  return scores;
}

}  // namespace attn::conformance
