#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/functor/dispatch.cuh"
#include "attn/kernels/gpu/rows.hpp"
#include "attn/kernels/route.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/gpu/general/lower.cuh"
#include "kernels/gpu/rows/rows_backward.cuh"
#include "kernels/gpu/rows/rows_forward.cuh"

namespace attn::gpu {
namespace {

/// The most numbers of one matrix; a single unit may exceed it.
constexpr std::int64_t kMostScores = std::int64_t{1} << 27;

/// A piece as large as kMostScores allows.
template <class Args>
RowSizes piece_of(const Args& args) {
  RowSizes n;
  n.kv_heads = static_cast<int>(std::max<std::int64_t>(args.k.shape[1], 1));
  n.group = static_cast<int>(args.q.shape[1] / n.kv_heads);
  n.queries = static_cast<int>(args.q.shape[2]);
  n.keys = static_cast<int>(args.k.shape[2]);
  n.channels = static_cast<int>(args.q.shape[3]);
  n.values = static_cast<int>(args.v.shape[3]);
  const std::int64_t each = static_cast<std::int64_t>(n.group) * n.queries * n.keys;
  const std::int64_t units = args.q.shape[0] * n.kv_heads;
  n.units = std::clamp<std::int64_t>(kMostScores / std::max<std::int64_t>(each, 1), 1,
                                     std::max<std::int64_t>(units, 1));
  return n;
}

template <class V>
struct ForwardMemory {
  V* q;
  V* k;
  V* weights;  ///< of the similarity
  V* scores;
  V* stats;

  ForwardMemory(cpu::Scratch& from, const RowSizes& n)
      : q(from.take<V>(n.rows() * n.channels)),
        k(from.take<V>(n.all_keys() * n.channels)),
        weights(from.take<V>(static_cast<std::int64_t>(n.kv_heads) * std::max(n.channels, 1))),
        scores(from.take<V>(n.rows() * n.keys)),
        stats(from.take<V>(n.rows())) {}
};

template <class V>
struct BackwardMemory : ForwardMemory<V> {
  V* similarities;
  V* pooled;  ///< what pools the values
  V* ds;
  V* q_norms;
  V* k_norms;

  BackwardMemory(cpu::Scratch& from, const RowSizes& n)
      : ForwardMemory<V>(from, n),
        similarities(from.take<V>(n.rows() * n.keys)),
        pooled(from.take<V>(n.rows() * n.keys)),
        ds(from.take<V>(n.rows() * n.keys)),
        q_norms(from.take<V>(n.rows())),
        k_norms(from.take<V>(n.all_keys())) {}
};

/// The offsets of packed sequences in the CPU's memory: they decide how much there is to do.
/// Bringing them there waits for the stream.
class Sequences {
 public:
  Sequences(const Packing& packing, cudaStream_t stream) : count_(packing.count) {
    fetch(packing.q, q_, stream);
    fetch(packing.k, k_, stream);
    if (packing.q != nullptr || packing.k != nullptr)
      ATTN_CUDA_CALL(cudaStreamSynchronize(stream));
  }

  bool any() const { return !q_.empty() || !k_.empty(); }
  std::int64_t count() const { return count_; }
  /// As validate() reads them.
  Packing packing() const {
    return {q_.empty() ? nullptr : q_.data(), k_.empty() ? nullptr : k_.data(), count_};
  }

  /// The arguments of one sequence: its rows, for whatever batch a kernel asks.
  template <class T>
  ForwardArgs<T> of(ForwardArgs<T> args, std::int64_t sequence) const {
    cut(q_, sequence, args.q, args.out, args.stat);
    cut(k_, sequence, args.k, args.v);
    args.packing = {};
    return args;
  }
  template <class T>
  BackwardArgs<T> of(BackwardArgs<T> args, std::int64_t sequence) const {
    cut(q_, sequence, args.q, args.out, args.stat, args.d_out, args.d_stat, args.dq);
    cut(k_, sequence, args.k, args.v, args.dk, args.dv);
    args.packing = {};
    return args;
  }

 private:
  void fetch(const std::int64_t* from, std::vector<std::int64_t>& to, cudaStream_t stream) {
    if (from == nullptr || count_ < 0) return;
    to.resize(static_cast<std::size_t>(count_) + 1);
    ATTN_CUDA_CALL(cudaMemcpyAsync(to.data(), from, to.size() * sizeof(std::int64_t),
                                   cudaMemcpyDeviceToHost, stream));
  }
  /// Positions are the third axis of all of them.
  template <class... Views>
  static void cut(const std::vector<std::int64_t>& offsets, std::int64_t sequence,
                  Views&... views) {
    const std::int64_t first = offsets[static_cast<std::size_t>(sequence)];
    const std::int64_t end = offsets[static_cast<std::size_t>(sequence) + 1];
    const auto one = [&](auto& view) {
      if (view.data != nullptr) view.data += first * view.strides[2];
      view.shape[2] = end - first;
      view.strides[0] = 0;
    };
    (one(views), ...);
  }

  std::int64_t count_;
  std::vector<std::int64_t> q_;
  std::vector<std::int64_t> k_;
};

/// run(piece, its arguments) for all units of a batch, or of packed sequences.
template <class Args, class Run>
void for_each_piece(const Args& args, const Sequences& sequences, const Run& run) {
  const auto run_batches = [&](const Args& some, std::int64_t first_batch) {
    RowSizes n = piece_of(some);
    const std::int64_t each = n.units;
    const std::int64_t end = (first_batch + some.q.shape[0]) * n.kv_heads;
    for (n.first = first_batch * n.kv_heads; n.first < end; n.first += each) {
      n.units = std::min(each, end - n.first);
      run(n, some);
    }
  };
  if (!sequences.any()) return run_batches(args, 0);
  for (std::int64_t b = 0; b < sequences.count(); ++b) run_batches(sequences.of(args, b), b);
}

/// The most that `bytes(piece)` is for a batch, or for one of the packed sequences.
template <class Args, class Bytes>
std::size_t most_bytes(const Args& args, const Bytes& bytes) {
  const Sequences sequences(args.packing, nullptr);
  if (!sequences.any()) return bytes(piece_of(args));
  std::size_t most = bytes(RowSizes{});
  for (std::int64_t b = 0; b < sequences.count(); ++b)
    most = std::max(most, bytes(piece_of(sequences.of(args, b))));
  return most;
}

/// Packs a piece and forms its scores.
template <class V, class Args>
RowInputs<V> score_piece(const Args& args, const RowSizes& n, const RowStages& stages,
                         const ForwardMemory<V>& memory, V* similarities, Stream stream) {
  using T = std::remove_const_t<std::remove_pointer_t<decltype(args.q.data)>>;
  launch_threads(&pack_kernel<true, T, V>, n.rows() * n.channels, stream, n, args.q, memory.q);
  launch_threads(&pack_kernel<false, T, V>, n.all_keys() * n.channels, stream, n, args.k,
                 memory.k);
  RowInputs<V> in{memory.q, memory.k, memory.weights, 0};
  if (stages.weights.data != nullptr) {
    in.weight_count = static_cast<int>(stages.weights.shape[3]);
    launch_threads(&pack_weights_kernel<V>,
                   static_cast<std::int64_t>(n.kv_heads) * in.weight_count, stream,
                   stages.weights, n.kv_heads, memory.weights);
  }
  launch_threads(&scores_kernel<V>, n.rows() * n.keys, stream, n, in, stages, similarities,
                 memory.scores);
  return in;
}

/// What every call checks; messages of validate() name the CPU's function.
template <class T>
void check_forward(ForwardArgs<T> args, const Recipe& recipe, const Sequences& sequences,
                   const void* workspace, const char* where) {
  args.packing = {};
  check_supported(args);
  args.packing = sequences.packing();
  validate(args, checkable(recipe));
  if (workspace == nullptr)
    fail(where, ": no workspace; rows_workspace() says how many bytes it takes");
}

template <class V>
bool looks(const Inspection<V>& into) {
  return into.all.data != nullptr || into.top_keys.data != nullptr ||
         into.column_sums.data != nullptr || into.distance_sums.data != nullptr ||
         into.arg_max.data != nullptr;
}

template <class V>
void look(const RowSizes& n, const V* weights, const Inspection<V>& into, Stream stream) {
  if (into.all.data != nullptr)
    launch_threads(&copy_rows_kernel<V>, n.rows() * n.keys, stream, n, weights, into.all);
  if (into.column_sums.data != nullptr)
    launch_threads(&column_sums_kernel<V>, n.units * n.group * n.keys, stream, n, weights,
                   into.column_sums);
  if (into.distance_sums.data != nullptr)
    launch_threads(&distance_sums_kernel<V>, n.rows() * into.distance_sums.shape[3], stream, n,
                   weights, into.distance_offset, into.distance_sums);
  const std::int64_t top = into.top_keys.data != nullptr ? into.top_keys.shape[3] : 0;
  const std::int64_t rounds = std::max<std::int64_t>(top, into.arg_max.data != nullptr ? 1 : 0);
  if (rounds > 0)
    launch_warps(&top_kernel<V>, n.rows(), stream, n, weights, static_cast<int>(rounds),
                 into.top_keys, into.top_weights, into.arg_max);
}

}  // namespace

void clear_tables(const RecipeGrads& grads, Stream stream) {
  grads.for_each([&](const TableGrad& grad) {
    if (grad.dtype == DType::f64) {
      clear(View<double, 4>{static_cast<double*>(grad.data), grad.shape, grad.strides}, stream);
    } else {
      clear(View<float, 4>{static_cast<float*>(grad.data), grad.shape, grad.strides}, stream);
    }
  });
}

template <class T>
std::size_t rows_workspace(const ForwardArgs<T>& args) {
  return most_bytes(args, [](const RowSizes& n) {
    cpu::Scratch counted;
    const ForwardMemory<StatOf<T>> memory(counted, n);
    return counted.used;
  });
}

template <class T>
std::size_t rows_backward_workspace(const BackwardArgs<T>& args) {
  return most_bytes(args, [](const RowSizes& n) {
    cpu::Scratch counted;
    const BackwardMemory<StatOf<T>> memory(counted, n);
    return counted.used;
  });
}

template <class T>
void rows_forward(const ForwardArgs<T>& args, const Recipe& recipe,
                  const Inspection<StatOf<T>>& into, void* workspace, Stream stream) {
  constexpr const char* kWhere = "attn::gpu::rows_forward";
  using V = StatOf<T>;
  const Sequences sequences(args.packing, stream);
  check_forward(args, recipe, sequences, workspace, kWhere);
  if (into.chosen.data != nullptr)
    fail<Unsupported>(kWhere, ": chosen rows of weights are not built; ask for all");
  if (sequences.any() && looks(into))
    fail<Unsupported>(kWhere, ": weights of packed sequences are not built");
  note_route(Route::gpu_rows);
  const RowStages stages = lower_rows(kWhere, recipe).stages;
  for_each_piece(args, sequences, [&](const RowSizes& n, const ForwardArgs<T>& some) {
    cpu::Scratch from{static_cast<std::byte*>(workspace)};
    const ForwardMemory<V> memory(from, n);
    score_piece<V>(some, n, stages, memory, static_cast<V*>(nullptr), stream);
    launch_warps(&stats_kernel<V>, n.rows(), stream, n, stages, memory.scores, memory.stats);
    if (some.stat.data != nullptr)
      launch_threads(&copy_stats_kernel<V>, n.rows(), stream, n, memory.stats, some.stat);
    launch_threads(&weights_kernel<V>, n.rows() * n.keys, stream, n, stages, memory.scores,
                   memory.stats, memory.scores);
    launch_threads(&pool_kernel<T, V>, n.rows() * n.values, stream, n, memory.scores, some.v,
                   some.out);
    look(n, memory.scores, into, stream);
  });
}

template <class T>
void rows_scores(const ForwardArgs<T>& args, const Recipe& recipe, int modifiers, bool masked,
                 const View<StatOf<T>, 4>& out, void* workspace, Stream stream) {
  constexpr const char* kWhere = "attn::gpu::rows_scores";
  using V = StatOf<T>;
  if (modifiers < 0 || static_cast<std::size_t>(modifiers) > recipe.scores.size())
    fail(kWhere, ": after ", modifiers, " score modifiers; the recipe has ",
         recipe.scores.size());
  const Sequences sequences(args.packing, stream);
  check_forward(args, recipe, sequences, workspace, kWhere);
  if (sequences.any()) fail<Unsupported>(kWhere, ": scores of packed sequences are not built");
  Recipe seen = recipe;
  seen.scores.resize(static_cast<std::size_t>(modifiers));
  if (!masked) seen.masks.clear();
  const RowStages stages = lower_rows(kWhere, seen).stages;
  for_each_piece(args, sequences, [&](const RowSizes& n, const ForwardArgs<T>& some) {
    cpu::Scratch from{static_cast<std::byte*>(workspace)};
    const ForwardMemory<V> memory(from, n);
    score_piece<V>(some, n, stages, memory, static_cast<V*>(nullptr), stream);
    launch_threads(&copy_rows_kernel<V>, n.rows() * n.keys, stream, n, memory.scores, out);
  });
}

template <class T>
void rows_backward(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads,
                   void* workspace, Stream stream) {
  constexpr const char* kWhere = "attn::gpu::rows_backward";
  using V = StatOf<T>;
  const Sequences sequences(args.packing, stream);
  BackwardArgs<T> checked = args;
  checked.packing = sequences.packing();
  validate(checked, checkable(recipe), grads);
  if (workspace == nullptr)
    fail(kWhere, ": no workspace; rows_backward_workspace() says how many bytes it takes");
  note_route(Route::gpu_rows);
  const LoweredRows lowered = lower_rows(kWhere, recipe, grads);
  const RowStages& stages = lowered.stages;
  clear_tables(grads, stream);
  for_each_piece(args, sequences, [&](const RowSizes& n, const BackwardArgs<T>& some) {
    cpu::Scratch from{static_cast<std::byte*>(workspace)};
    const BackwardMemory<V> memory(from, n);
    const std::int64_t pairs = n.rows() * n.keys;
    const RowInputs<V> in =
        score_piece<V>(some, n, stages, memory, memory.similarities, stream);
    // The row is known from the scores themselves, so a rounded stat costs nothing.
    launch_warps(&stats_kernel<V>, n.rows(), stream, n, stages, memory.scores, memory.stats);
    if (some.dv.data != nullptr) {
      launch_threads(&weights_kernel<V>, pairs, stream, n, stages, memory.scores, memory.stats,
                     memory.pooled);
      launch_threads(&d_values_kernel<T, V>, n.all_keys() * n.values, stream, n, memory.scores,
                     memory.pooled, some.d_out, some.dv);
    }
    launch_threads(&d_weights_kernel<T, V>, pairs, stream, n, memory.scores, some.v, some.d_out,
                   some.d_weights, memory.ds);
    launch_warps(&d_scores_kernel<V>, n.rows(), stream, n, stages, lowered.grads,
                 memory.similarities, memory.scores, memory.stats, some.d_stat, memory.ds);
    const RowPairs<V> found{in,        stages.similarity, memory.similarities, memory.scores,
                            memory.ds, memory.q_norms,    memory.k_norms};
    if (stages.similarity == Similarity::cosine) {
      launch_threads(&norms_kernel<V>, n.rows(), stream, n.rows(), n.channels, memory.q,
                     memory.q_norms);
      launch_threads(&norms_kernel<V>, n.all_keys(), stream, n.all_keys(), n.channels, memory.k,
                     memory.k_norms);
    }
    if (some.dq.data != nullptr || grads.weights.data != nullptr)
      launch_threads(&d_queries_kernel<T, V>, n.rows() * n.channels, stream, n, found, some.dq,
                     grads.weights);
    if (some.dk.data != nullptr)
      launch_threads(&d_keys_kernel<T, V>, n.all_keys() * n.channels, stream, n, found,
                     some.dk);
  });
}

#include "kernels/gpu/rows/instances.inc"

}  // namespace attn::gpu
