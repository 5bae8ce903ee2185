#include "attn/kernels/linear.hpp"

#include <cstddef>
#include <cstdint>

#include "attn/core/arena.hpp"
#include "attn/core/dtype.hpp"  // IWYU pragma: keep
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/core/view.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "kernels/cpu/build_plan.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/linear_plan.hpp"
#include "kernels/cpu/plan.hpp"

namespace attn::cpu {
namespace {

template <class T>
LinearPlan plan_of(const LinearArgs<T>& args) {
  LinearPlan plan;
  plan.q = RawView::of(args.q);
  plan.k = RawView::of(args.k);
  plan.v = RawView::of(args.v);
  plan.decay = RawView::of(args.decay);
  const auto& beta = args.beta;
  plan.beta =
      RawView::of(View<const T, 4>{beta.data,
                                   {beta.shape[0], beta.shape[1], beta.shape[2], 1},
                                   {beta.strides[0], beta.strides[1], beta.strides[2], 0}});
  plan.out = RawView::of(args.out);
  plan.past = RawView::of(args.past);
  plan.state = RawView::of(args.state);
  plan.steps = static_cast<int>(args.q.shape[2]);
  plan.channels = static_cast<int>(args.q.shape[3]);
  plan.values = static_cast<int>(args.v.shape[3]);
  plan.group = static_cast<int>(args.q.shape[1] / args.k.shape[1]);
  plan.rule = args.rule;
  plan.scale = static_cast<float>(args.scale);
  return plan;
}

}  // namespace

template <class T>
void linear(const LinearArgs<T>& args, const Context& context) {
  validate(args);
  const auto block = isa_table<LinearTable>(target_of(context)).block;
  if (args.v.shape[0] * args.v.shape[1] * args.v.shape[3] == 0) return;
  const LinearPlan plan = plan_of(args);
  const std::int64_t columns = (plan.values + kLinearColumns - 1) / kLinearColumns;
  const std::int64_t heads = args.k.shape[1];
  const std::int64_t tasks = args.k.shape[0] * heads * columns;
  constexpr std::int64_t kMaxTasks = std::int64_t{1} << 30;
  if (tasks > kMaxTasks)
    fail("attn::cpu::linear: ", tasks, " blocks of heads and value channels; at most ",
         kMaxTasks, " are accepted");
  const int threads = context.threads > 0 ? context.threads : ThreadPool::default_threads();
  const std::size_t bytes = linear_bytes(plan);
  ThreadPool::shared().parallel_for(static_cast<int>(tasks), threads, [&](int task) {
    Arena& arena = Arena::local();
    arena.reset(bytes);
    const std::int64_t unit = task / columns;
    block(plan, static_cast<int>(unit / heads), static_cast<int>(unit % heads),
          static_cast<int>(task % columns) * kLinearColumns, arena.take<std::byte>(bytes));
  });
}

template void linear(const LinearArgs<float>&, const Context&);
template void linear(const LinearArgs<BFloat16>&, const Context&);
template void linear(const LinearArgs<Float16>&, const Context&);

}  // namespace attn::cpu
