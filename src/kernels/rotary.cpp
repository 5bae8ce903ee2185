#include "attn/kernels/rotary.hpp"

#include <array>
#include <cstdint>

#include "attn/core/dtype.hpp"  // IWYU pragma: keep
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "kernels/check_view.hpp"

namespace attn {
namespace {

/// The pairs of one row. Both channels are read before either is written, so out may be x.
template <class T>
void rotate_row(const RotaryArgs<T>& args, std::int64_t b, std::int64_t h, std::int64_t i) {
  const bool picked = args.rows.data != nullptr;
  const std::int64_t batch = picked ? 0 : b;
  const std::int64_t row = picked ? *args.rows.at(b, i) : i;
  const T* cos = args.cos.at(batch, row);
  const T* sin = args.sin.at(batch, row);
  const T* x = args.x.at(b, h, i);
  T* out = args.out.at(b, h, i);
  const std::int64_t step = args.x.strides[3];
  const std::int64_t out_step = args.out.strides[3];
  const std::int64_t pairs = args.cos.shape[2];
  for (std::int64_t c = 0; c < pairs; ++c)
    turn_pair(args.pairs, c, pairs, cos[c * args.cos.strides[2]], sin[c * args.sin.strides[2]],
              x, step, out, out_step);
  for (std::int64_t c = 2 * pairs; c < args.x.shape[3]; ++c) out[c * out_step] = x[c * step];
}

}  // namespace

template <class T>
void validate_shapes(const RotaryArgs<T>& args) {
  constexpr const char* kWhere = "attn::rotate";
  check_extents(kWhere, "x", args.x);
  check_extents(kWhere, "cos", args.cos);
  check_extents(kWhere, "sin", args.sin);
  check_extents(kWhere, "out", args.out);
  check_shape(kWhere, "out", args.out.shape, args.x.shape);
  check_shape(kWhere, "sin", args.sin.shape, args.cos.shape);
  const auto& [batches, heads, positions, channels] = args.x.shape;
  const std::int64_t pairs = args.cos.shape[2];
  if (2 * pairs > channels)
    fail(kWhere, ": cos has ", pairs, " pairs; x has ", channels, " channels, at most ",
         channels / 2, " pairs");
  if (args.rows.data == nullptr) {
    check_shape(kWhere, "cos", args.cos.shape,
                std::array<std::int64_t, 3>{batches, positions, pairs});
    return;
  }
  check_shape(kWhere, "rows", args.rows.shape, std::array<std::int64_t, 2>{batches, positions});
  const std::int64_t rows = args.cos.shape[1];
  check_shape(kWhere, "cos", args.cos.shape, std::array<std::int64_t, 3>{1, rows, pairs});
}

template <class T>
void validate(const RotaryArgs<T>& args) {
  validate_shapes(args);
  if (args.rows.data == nullptr) return;
  const std::int64_t rows = args.cos.shape[1];
  for (std::int64_t b = 0; b < args.x.shape[0]; ++b)
    for (std::int64_t i = 0; i < args.x.shape[2]; ++i)
      if (const std::int64_t row = *args.rows.at(b, i); row < 0 || row >= rows)
        fail("attn::rotate: position ", i, " of batch ", b, " is row ", row,
             "; cos has rows 0..", rows - 1);
}

template <class T>
void rotate(const RotaryArgs<T>& args) {
  validate(args);
  // Waking threads costs some 10 us, in which one of them turns about this many channels.
  constexpr std::int64_t kWorthThreads = 1 << 15;
  const auto& [batches, heads, positions, channels] = args.x.shape;
  const auto turn = [&](std::int64_t unit) {
    for (std::int64_t i = 0; i < positions; ++i)
      rotate_row(args, unit / heads, unit % heads, i);
  };
  if (args.x.size() == 0) return;
  const int threads = args.x.size() < kWorthThreads ? 1 : ThreadPool::default_threads();
  const std::int64_t units = batches * heads;
  // Tasks are counted in int.
  constexpr std::int64_t kMaxTasks = 1 << 20;
  const std::int64_t each = (units + kMaxTasks - 1) / kMaxTasks;
  const auto tasks = static_cast<int>((units + each - 1) / each);
  ThreadPool::shared().parallel_for(tasks, threads, [&](int task) {
    for (std::int64_t unit = task * each; unit < units && unit < (task + 1) * each; ++unit)
      turn(unit);
  });
}

// clang-format off
template void validate_shapes(const RotaryArgs<double>&);
template void validate(const RotaryArgs<double>&);
template void validate_shapes(const RotaryArgs<float>&);
template void validate(const RotaryArgs<float>&);
template void validate_shapes(const RotaryArgs<BFloat16>&);
template void validate(const RotaryArgs<BFloat16>&);
template void validate_shapes(const RotaryArgs<Float16>&);
template void validate(const RotaryArgs<Float16>&);
template void rotate(const RotaryArgs<double>&);
template void rotate(const RotaryArgs<float>&);
template void rotate(const RotaryArgs<BFloat16>&);
template void rotate(const RotaryArgs<Float16>&);
// clang-format on

}  // namespace attn
