#include "attn/kernels/cpu/attention.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "attn/core/thread_pool.hpp"
#include "attn/kernels/layout.hpp"
#include "attn/kernels/route.hpp"
#include "kernels/cpu/build_plan.hpp"
#include "kernels/cpu/decode/piece.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/packed/backward_plan.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/team_scratch.hpp"
#include "kernels/cpu/tiles.hpp"

namespace attn::cpu {
namespace {

/// Multiply-adds below which no thread is woken: some 20 us of work. A guess, not yet measured.
constexpr double kWorthWaking = 1 << 18;

/// Small problems stay on the calling thread; results do not depend on it.
int threads_for(const Plan& plan, const Context& context) {
  double work = 0.0;
  for (int b = 0; b < plan.sequences; ++b)
    work += static_cast<double>(plan.queries(b)) * plan.keys(b);
  if (work * plan.heads * (plan.channels + plan.value_channels) < kWorthWaking) return 1;
  return context.threads > 0 ? context.threads : ThreadPool::default_threads();
}

/// Whether a sequence takes the decode path, as the route says.
bool takes_decode(const Plan& plan, int b) {
  return decodes_on_cpu(plan.group, plan.queries(b), plan.keys(b), plan.streams);
}

/// The pieces of all sequences that take the decode path. Pieces run in any order; the last of
/// a kv head to end merges them all in the order of their keys.
class DecodeWork {
 public:
  explicit DecodeWork(const Plan& plan) : plan_(plan) {
    int units = 0;
    std::int64_t floats = 0;
    for (int b = 0; b < plan.sequences; ++b) {
      if (plan.queries(b) == 0 || !takes_decode(plan, b)) continue;
      const int keys = plan.keys(b);
      // A sequence without keys still has outputs to write.
      const int count = std::max(1, (keys + kPieceKeys - 1) / kPieceKeys);
      const std::int64_t size =
          DecodeState::size(plan.group * plan.queries(b), plan.value_channels);
      for (int kv = 0; kv < plan.kv_heads; ++kv, ++units) {
        const int first = tasks();
        for (int p = 0; p < count; ++p) {
          const int begin = p * kPieceKeys;
          tasks_.push_back({{b, kv, begin, std::min(keys, begin + kPieceKeys)},
                            units,
                            first,
                            count,
                            floats});
          if (count > 1) floats += size;
        }
      }
    }
    if (floats == 0) return;
    states_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(floats));
    left_ = std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(units));
    for (const Task& task : tasks_)
      left_[static_cast<std::size_t>(task.unit)].store(task.count, std::memory_order_relaxed);
  }

  int tasks() const { return static_cast<int>(tasks_.size()); }
  int batch_of(int task) const { return tasks_[static_cast<std::size_t>(task)].piece.batch; }

  /// `memory` is kernels.decode_bytes() of the piece's sequence.
  void run(const KernelTable& kernels, int index, std::byte* memory) const {
    const Task& task = tasks_[static_cast<std::size_t>(index)];
    if (task.count == 1) {
      kernels.decode(plan_, task.piece, nullptr, memory);
      return;
    }
    kernels.decode(plan_, task.piece, states_.get() + task.state, memory);
    auto& left = left_[static_cast<std::size_t>(task.unit)];
    if (left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    const std::int64_t first = tasks_[static_cast<std::size_t>(task.first)].state;
    kernels.decode_merge(plan_, task.piece, states_.get() + first, task.count, memory);
  }

 private:
  struct Task {
    DecodePiece piece;
    int unit = 0;            ///< whose counter it lowers
    int first = 0;           ///< task of the unit's first piece
    int count = 0;           ///< pieces of the unit
    std::int64_t state = 0;  ///< where its state lies; unused by a lone piece
  };

  const Plan& plan_;
  std::vector<Task> tasks_;
  std::unique_ptr<float[]> states_;
  std::unique_ptr<std::atomic<int>[]> left_;  ///< pieces still to end, one number a unit
};

/// Every kv head of every sequence, its queries cut so that all threads have work. What is cut
/// repeats the packing of its keys, so runs stay long; only those that come last are cut
/// shorter, so that threads that began at different times end together, and the later queries
/// of those come first, since a causal mask leaves them the most to do. Results do not depend
/// on the cut.
std::vector<ForwardRun> forward_runs(const Plan& plan, int threads) {
  constexpr int kTilesEach = 4;
  constexpr int kCutLast = 4;
  const int units = plan.sequences * plan.kv_heads;
  const int pieces =
      threads == 1 || units >= 8 * threads ? 1 : (4 * threads + units - 1) / std::max(1, units);
  const int whole = threads == 1 ? units : units - 2 * threads;
  std::vector<ForwardRun> runs;
  for (int b = 0; b < plan.sequences; ++b) {
    if (takes_decode(plan, b)) continue;
    const int queries = plan.queries(b);
    const int tile = kTileRows * kRowTiles;
    const int tiles = (queries + tile - 1) / tile;
    for (int kv = 0; kv < plan.kv_heads; ++kv) {
      const int cut = b * plan.kv_heads + kv < whole ? pieces : pieces * kCutLast;
      const int each = std::max((tiles + cut - 1) / cut, std::min(tiles, kTilesEach)) * tile;
      if (each == 0) continue;
      for (int q = (queries - 1) / each * each; q >= 0; q -= each)
        runs.push_back({b, kv, q, std::min(queries, q + each)});
    }
  }
  return runs;
}

/// The buffers a backward call needs besides the threads' scratch.
struct BackwardBuffers {
  std::unique_ptr<std::atomic<int>[]> turns;
  std::atomic<int> committed{0};
  std::vector<float> d_weights;  ///< of the similarity, from the queries: one share a head
};

/// Where a table's rows belong to queries, blocks must write them in turn.
void order_turns(BackwardPlan& bp, const RecipeGrads& grads) {
  grads.for_each([&](const TableGrad& grad) {
    if (grad.shape[2] <= 1) return;
    bp.rows_ordered = true;
    if ((grad.shape[0] == 1 && bp.base.sequences > 1) ||
        (grad.shape[1] == 1 && bp.base.heads > 1))
      bp.turns_shared = true;
  });
}

/// Chooses where dQ is summed up: in dq itself, or in as many floats of scratch as it returns.
template <class T>
std::size_t plan_dq(BackwardPlan& bp, const BackwardArgs<T>& args) {
  const bool weights = bp.weights.data != nullptr;
  const Plan& plan = bp.base;
  if (args.dq.data == nullptr && !(weights && plan.similarity == Similarity::distance))
    return 0;
  if (std::is_same_v<T, float> && plan.similarity == Similarity::dot &&
      args.dq.strides[3] == 1) {
    bp.dq_direct = true;
    bp.dq_sum = static_cast<float*>(bp.dq.data);
    bp.dq_batch = args.dq.strides[0];
    bp.dq_head = args.dq.strides[1];
    bp.dq_stride = args.dq.strides[2];
    return 0;
  }
  // Room for the similarities' extra channel; rows are whole cache lines.
  bp.dq_stride = (std::max(plan.channels + 1, 2) + 15) / 16 * 16;
  bp.dq_head = bp.dq_stride * args.q.shape[2];
  bp.dq_batch = bp.dq_head * plan.heads;
  return static_cast<std::size_t>(bp.dq_batch * args.q.shape[0]);
}

/// The normaliser's own tables need only the rows' statistics: one pass, in order.
template <class T>
void normaliser_tables(const BackwardPlan& bp, const BackwardArgs<T>& args,
                       const RecipeGrads& grads, const Recipe& recipe) {
  const AnyNormaliser& n = recipe.normaliser;
  if (n.backward_row == nullptr || grads.normaliser[0].data == nullptr) return;
  const Layout<T> layout(args);
  for (int b = 0; b < bp.base.sequences; ++b)
    for (int h = 0; h < bp.base.heads; ++h) {
      const auto stat = layout.stat_rows(args.stat, b, h);
      for (int i = 0; i < layout.queries(b); ++i) {
        const Params<double> p{n.data.tables.data(), b, h, i};
        n.backward_row(n.data, grads.normaliser.data(), static_cast<double>(*stat.at(i)),
                       static_cast<double>(bp.delta_row(b, h)[i]), p);
      }
    }
}

}  // namespace

template <class T>
void forward(const ForwardArgs<T>& args, const Recipe& recipe, const Context& context) {
  validate(args, recipe);
  const PlanHolder holder(args, recipe, target_of(context));
  const Plan& plan = holder.plan();
  const KernelTable& kernels = isa_table<KernelTable>(holder.target());
  const int threads = threads_for(plan, context);
  const DecodeWork decode(plan);
  const std::vector<ForwardRun> runs = forward_runs(plan, threads);
  const int tasks = decode.tasks() + static_cast<int>(runs.size());
  note_route(runs.empty() && decode.tasks() > 0          ? Route::cpu_decode
             : recipe.similarity == Similarity::additive ? Route::cpu_additive
                                                         : Route::cpu_packed);
  std::size_t bytes = 0;
  for (int task = 0; task < decode.tasks(); ++task)
    bytes = std::max(bytes, kernels.decode_bytes(plan, decode.batch_of(task)));
  for (const ForwardRun& run : runs) bytes = std::max(bytes, kernels.forward_bytes(plan, run));
  const TeamScratch scratch(bytes, std::min(threads, std::max(tasks, 1)));
  ThreadPool::shared().parallel_for(tasks, threads, [&](int task, int worker) {
    if (task < decode.tasks()) {
      decode.run(kernels, task, scratch.of(worker));
    } else {
      kernels.forward(plan, runs[static_cast<std::size_t>(task - decode.tasks())],
                      scratch.of(worker));
    }
  });
}

template <class T>
void backward(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads,
              const Context& context) {
  validate(args, recipe, grads);
  grads.clear();
  note_route(recipe.similarity == Similarity::additive ? Route::cpu_additive
                                                       : Route::cpu_packed);
  const PlanHolder holder(args, recipe, target_of(context));
  const KernelTable& kernels = isa_table<KernelTable>(holder.target());
  const int threads = threads_for(holder.plan(), context);
  ThreadPool& pool = ThreadPool::shared();

  BackwardBuffers buffers;
  BackwardPlan bp = holder.backward_plan(args, grads);
  order_turns(bp, grads);
  const std::size_t dq_floats = plan_dq(bp, args);
  const Plan& plan = bp.base;
  const int head_count = plan.sequences * plan.heads;
  for (int b = 0; b < plan.sequences; ++b) {
    bp.max_queries = std::max(bp.max_queries, plan.queries(b));
    bp.blocks = std::max(bp.blocks, (plan.keys(b) + kBackwardCols - 1) / kBackwardCols);
  }
  bp.blocks = std::max(bp.blocks, 1);
  bp.query_tiles = (bp.max_queries + kBackwardRows - 1) / kBackwardRows;
  const int turns = bp.turns_shared ? bp.query_tiles : head_count * bp.query_tiles;
  buffers.turns = std::make_unique<std::atomic<int>[]>(static_cast<std::size_t>(turns) + 1);
  bp.turns = buffers.turns.get();
  bp.committed = &buffers.committed;

  const std::size_t delta_floats =
      static_cast<std::size_t>(head_count) * static_cast<std::size_t>(bp.max_queries);
  const int tasks = plan.sequences * plan.kv_heads * bp.blocks;
  const TeamScratch scratch(kernels.backward_bytes(bp),
                            std::min(threads, std::max({tasks, head_count, 1})),
                            (delta_floats + dq_floats) * sizeof(float));
  bp.delta = reinterpret_cast<float*>(scratch.shared());
  if (dq_floats > 0) bp.dq_sum = bp.delta + delta_floats;

  pool.parallel_for(head_count, threads, [&](int task, int worker) {
    kernels.backward_deltas(bp, task / plan.heads, task % plan.heads, scratch.of(worker));
  });
  pool.parallel_for(tasks, threads, [&](int task, int worker) {
    const int unit = task / bp.blocks;
    kernels.backward(bp, {task, unit / plan.kv_heads, unit % plan.kv_heads, task % bp.blocks},
                     scratch.of(worker));
  });
  normaliser_tables(bp, args, grads, recipe);
  if (bp.dq_sum == nullptr || bp.dq_direct) return;

  const std::size_t width = static_cast<std::size_t>(plan.channels) + 1;
  buffers.d_weights.assign(static_cast<std::size_t>(head_count) * width, 0.0f);
  pool.parallel_for(head_count, threads, [&](int task, int worker) {
    kernels.backward_queries(bp, task / plan.heads, task % plan.heads, scratch.of(worker),
                             buffers.d_weights.data() + static_cast<std::size_t>(task) * width);
  });
  if (bp.weights.data == nullptr) return;
  for (int task = 0; task < head_count; ++task) {
    float* to = static_cast<float*>(bp.weights.data) +
                task % plan.heads / plan.group * bp.weights.strides[1];
    for (std::int64_t c = 0; c < bp.weights.shape[3]; ++c)
      to[c * bp.weights.strides[3]] +=
          buffers
              .d_weights[static_cast<std::size_t>(task) * width + static_cast<std::size_t>(c)];
  }
}

// clang-format off
template void forward(const ForwardArgs<float>&, const Recipe&, const Context&);
template void forward(const ForwardArgs<BFloat16>&, const Recipe&, const Context&);
template void forward(const ForwardArgs<Float16>&, const Recipe&, const Context&);
template void backward(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&, const Context&);
template void backward(const BackwardArgs<BFloat16>&, const Recipe&, const RecipeGrads&, const Context&);
template void backward(const BackwardArgs<Float16>&, const Recipe&, const RecipeGrads&, const Context&);
// clang-format on

}  // namespace attn::cpu
