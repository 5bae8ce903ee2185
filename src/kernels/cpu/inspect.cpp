// Weights and scores on demand: whole rows of the CPU's tiles.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "kernels/cpu/build_plan.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/kernel_table.hpp"
#include "kernels/cpu/plan.hpp"
#include "kernels/cpu/team_scratch.hpp"
#include "kernels/row_reader.hpp"

namespace attn::cpu {
namespace {

template <class View, class... Extents>
void check_shape(const char* name, const View& view, Extents... extents) {
  if (view.data == nullptr) return;
  const std::array<std::int64_t, sizeof...(Extents)> expected{
      static_cast<std::int64_t>(extents)...};
  for (std::size_t axis = 0; axis < expected.size(); ++axis)
    if (expected[axis] >= 0 && view.shape[axis] != expected[axis])
      fail("attn::cpu::inspect: ", name, " has extent ", view.shape[axis], " on axis ", axis,
           "; expected ", expected[axis]);
}

template <class T>
void validate_inspection(const ForwardArgs<T>& args, const Inspection<float>& wanted) {
  if (args.packing.q != nullptr || args.paging.table != nullptr)
    fail<Unsupported>(
        "attn::cpu::inspect: packed and paged sequences are not built; inspect "
        "one sequence at a time");
  const std::int64_t b = args.q.shape[0];
  const std::int64_t h = args.q.shape[1];
  const std::int64_t n = args.q.shape[2];
  const std::int64_t m = args.k.shape[2];
  constexpr std::int64_t kAny = -1;
  check_shape("all", wanted.all, b, h, n, m);
  check_shape("chosen", wanted.chosen, b, wanted.chosen_heads.size(),
              wanted.chosen_queries.size(), m);
  for (const int head : wanted.chosen_heads)
    if (head < 0 || head >= h)
      fail("attn::cpu::inspect: head ", head, " was chosen; there are heads 0..", h - 1);
  for (const int query : wanted.chosen_queries)
    if (query < 0 || query >= n)
      fail("attn::cpu::inspect: query ", query, " was chosen; there are queries 0..", n - 1);
  check_shape("top_keys", wanted.top_keys, b, h, n, kAny);
  check_shape("top_weights", wanted.top_weights, b, h, n,
              wanted.top_keys.data == nullptr ? kAny : wanted.top_keys.shape[3]);
  check_shape("column_sums", wanted.column_sums, b, h, m);
  check_shape("distance_sums", wanted.distance_sums, b, h, n, kAny);
  if (wanted.distance_sums.data != nullptr && wanted.distance_sums.shape[3] % 2 == 0)
    fail("attn::cpu::inspect: distance_sums has ", wanted.distance_sums.shape[3],
         " entries; expected an odd number, 2 m + 1");
  check_shape("arg_max", wanted.arg_max, b, h, n);
}

/// A plan whose rows are kept whole, and the tasks over its kv heads.
template <class T>
void visit_rows(const ForwardArgs<T>& given, const Recipe& recipe, const Context& context,
                int modifiers, bool masked, const Inspection<float>& wanted) {
  // Forward's outputs play no part; give them a shape that agrees.
  ForwardArgs<T> args = given;
  T nothing{};
  args.out = {
      &nothing, {args.q.shape[0], args.q.shape[1], args.q.shape[2], args.v.shape[3]}, {}};
  args.stat = {};
  validate(args, recipe);
  const PlanHolder holder(args, recipe, target_of(context));
  Plan plan = holder.plan();
  plan.streams = false;
  const KernelTable& kernels = isa_table<KernelTable>(holder.target());
  const int threads = context.threads > 0 ? context.threads : ThreadPool::default_threads();
  const int tasks = plan.sequences * plan.kv_heads;
  const auto run_of = [&](int task) {
    const int batch = task / plan.kv_heads;
    return ForwardRun{batch, task % plan.kv_heads, 0, plan.queries(batch)};
  };
  std::size_t bytes = 0;
  for (int task = 0; task < tasks; ++task)
    bytes = std::max(bytes, kernels.forward_bytes(plan, run_of(task)));
  const int team = std::min(threads, std::max(tasks, 1));
  const TeamScratch scratch(bytes, team);
  std::vector<RowReader<float>> readers;  // one a worker, made before the work starts
  readers.reserve(static_cast<std::size_t>(team));
  for (int worker = 0; worker < team; ++worker) readers.emplace_back(wanted, args.k.shape[2]);
  ThreadPool::shared().parallel_for(tasks, threads, [&](int task, int worker) {
    const RowVisitor visitor{
        modifiers, masked, &readers[static_cast<std::size_t>(worker)],
        [](void* self, const TilePlace& at, const float* rows, std::int64_t stride) {
          for (int r = 0; r < at.rows; ++r)
            static_cast<RowReader<float>*>(self)->read(at, r, rows + r * stride);
        }};
    kernels.inspect(plan, run_of(task), visitor, scratch.of(worker));
  });
}

}  // namespace

template <class T>
void inspect(const ForwardArgs<T>& args, const Recipe& recipe, const Inspection<float>& wanted,
             const Context& context) {
  validate_inspection(args, wanted);
  RowReader<float>::clear_sums(wanted);
  visit_rows(args, recipe, context, -1, true, wanted);
}

template <class T>
void scores(const ForwardArgs<T>& args, const Recipe& recipe, int modifiers, bool masked,
            const View<float, 4>& out, const Context& context) {
  if (modifiers < 0 || modifiers > static_cast<int>(recipe.scores.size()))
    fail("attn::cpu::scores: after ", modifiers, " modifiers; the recipe has 0..",
         recipe.scores.size());
  const Inspection<float> wanted{.all = out};
  validate_inspection(args, wanted);
  visit_rows(args, recipe, context, modifiers, masked, wanted);
}

// clang-format off
template void inspect(const ForwardArgs<float>&, const Recipe&, const Inspection<float>&, const Context&);
template void inspect(const ForwardArgs<BFloat16>&, const Recipe&, const Inspection<float>&, const Context&);
template void inspect(const ForwardArgs<Float16>&, const Recipe&, const Inspection<float>&, const Context&);
template void scores(const ForwardArgs<float>&, const Recipe&, int, bool, const View<float, 4>&, const Context&);
template void scores(const ForwardArgs<BFloat16>&, const Recipe&, int, bool, const View<float, 4>&, const Context&);
template void scores(const ForwardArgs<Float16>&, const Recipe&, int, bool, const View<float, 4>&, const Context&);
// clang-format on

}  // namespace attn::cpu
