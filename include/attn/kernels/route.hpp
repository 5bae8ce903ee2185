/// Route: which implementation computes a call of attention, and why. This is the one place
/// that decides; it answers for the GPU in a build without CUDA too.
///
///     const Call call{.on_gpu = true, .dtype = DType::bf16, .heads = 16, .queries = 4096,
///                     .keys = 4096, .channels = 128, .value_channels = 128};
///     route(call);                             // Route::gpu_hopper
///     why(call);                               // the reason, and what the others lack
///     const ForceRoute other(Route::gpu_tiles);  // calls of this thread, while it lives

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "attn/core/dtype.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/gpu/limits.hpp"
#include "attn/kernels/recipe.hpp"

namespace attn {

/// The implementations, by device, in the order in which they are tried.
enum class Route {
  cpu_decode,    ///< few queries: keys and values are read where they lie
  cpu_additive,  ///< w . tanh(q + k) in tiles
  cpu_packed,    ///< keys and values are packed for many queries
  reference,     ///< plain loops in double
  gpu_matrix,    ///< a matrix of scores by products, for those who look at weights
  gpu_decode,    ///< few queries: keys are cut among the multiprocessors
  gpu_additive,  ///< w . tanh(q + k), fused
  gpu_hopper,    ///< a recipe with a kernel of its own, on Hopper's instructions
  gpu_tiles,     ///< the same on every GPU from Ampere on
  gpu_general,   ///< any recipe of dot products, asked functor by functor
  gpu_rows,      ///< whole rows in plain loops: everything else
  // Those of linear attention.
  cpu_linear,  ///< step by step, the state in registers and cache
  cpu_chunks,  ///< products within a chunk of steps, the state from one to the next
  gpu_linear,  ///< one kernel, step by step
  gpu_chunks,  ///< chunks made of other ops, which have a backward
};
inline constexpr int kRoutes = 15;

std::string_view name_of(Route route);
std::optional<Route> route_named(std::string_view name);

/// A call as far as the choice depends on it.
struct Call {
  bool on_gpu = false;
  int capability = 90;                 ///< of the GPU, as far as the build has code for it
  std::int64_t shared_bytes = 232448;  ///< that a block of the GPU may have
  bool backward = false;               ///< the pass
  DType dtype = DType::f32;
  const Recipe* recipe = nullptr;  ///< null: dot products and softmax
  std::int64_t batch = 1;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 0;  ///< 0: as many as heads
  std::int64_t queries = 1;   ///< of the longest sequence
  std::int64_t keys = 1;
  std::int64_t channels = 64;
  std::int64_t value_channels = 64;
  bool packed = false;
  bool paged = false;
  bool linear = false;         ///< linear_attention(): keys write into a state
  bool channel_decay = false;  ///< the state of it fades by each channel's own decay
  bool aligned = true;         ///< rows of q, k and v begin on 16 bytes, channels side by side
  bool taped = false;          ///< a backward will follow
  // What is wanted of the forward besides log-sum-exp.
  bool output = true;
  bool weights = false;  ///< all of them, or their sums by key
  bool arg_max = false;
  bool log_sum_exp = false;
  bool row_sums = false;  ///< sums by distance, or the largest weights
  // What a backward has to do besides q, k and v.
  bool weight_grads = false;  ///< gradients arrive at the weights
  bool table_grads = false;   ///< the modifiers' tables want theirs
};

/// The implementation that runs the call: the forced one, or the first that serves it. Throws
/// Unsupported if none does, or not the forced one.
/// `among`: as a function asks that has only these.
Route route(const Call& call, std::span<const Route> among = {});
/// Whether an implementation can run the call; without its own reason to prefer another.
bool serves(Route route, const Call& call);
/// One sentence: why this route, and what those before it lack.
std::string why(const Call& call);

/// What was measured of the route, with the machine (docs/performance.md).
const char* speed_of(Route route, const Call& call);
/// Advice where a route is more than five times slower than the best of its device, or was
/// never measured and runs in plain loops, and of a lambda; else null.
const char* note_of(Route route, const Call& call);

/// Calls of this thread on the route's device take it as long as this lives.
class ForceRoute {
 public:
  explicit ForceRoute(Route route);
  ~ForceRoute();
  ForceRoute(const ForceRoute&) = delete;
  ForceRoute& operator=(const ForceRoute&) = delete;

 private:
  std::optional<Route> before_;
};

/// The route that the kernels of this thread took last; tests and benches ask.
std::optional<Route> last_route();
/// Said by the kernels when they run.
void note_route(Route route);

/// Whether a CPU call reads keys and values in place. `streams`: the normaliser does, and
/// weight modifiers are factors. A sequence's own shape decides, so that neither the number of
/// threads nor the rest of a batch changes a result.
bool decodes_on_cpu(std::int64_t group, std::int64_t queries, std::int64_t keys, bool streams);

/// Whether a forward keeps the similarities for its backward: on the CPU, where they are few or
/// take long to make again.
bool keeps_similarities(const Call& call);

/// The sizes and the alignment of a kernel's arguments.
template <class Args>
Call call_of(const Args& args, const Recipe& recipe) {
  using T = std::remove_cvref_t<decltype(*args.q.data)>;
  Call call{.dtype = kDType<T>,
            .recipe = &recipe,
            .batch = args.q.shape[0],
            .heads = args.q.shape[1],
            .kv_heads = args.k.shape[1],
            .queries = args.q.shape[2],
            .keys = args.k.shape[2],
            .channels = args.q.shape[3],
            .value_channels = args.v.shape[3],
            .packed = args.packing.q != nullptr || args.packing.k != nullptr,
            .aligned = gpu::can_map(args.q) && gpu::can_map(args.k) && gpu::can_map(args.v)};
  if constexpr (std::is_same_v<Args, BackwardArgs<T>>) {
    call.backward = call.taped = true;
    call.aligned = call.aligned && gpu::can_map(args.d_out);
    call.weight_grads = args.d_weights.given();
  } else {
    call.log_sum_exp = args.stat.data != nullptr;
    call.paged = args.paging.table != nullptr;
    if (call.paged) call.keys *= args.paging.stride;
  }
  return call;
}

}  // namespace attn
