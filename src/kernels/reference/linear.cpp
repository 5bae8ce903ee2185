#include "attn/kernels/linear.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

#include "attn/core/dtype.hpp"  // IWYU pragma: keep
#include "attn/core/error.hpp"
#include "attn/kernels/args.hpp"
#include "attn/pool/linear.hpp"
#include "kernels/check_view.hpp"
#include "kernels/reference/numbers.hpp"

namespace attn {

template <class T>
void validate(const LinearArgs<T>& args) {
  constexpr const char* kWhere = "attn::linear";
  check_extents(kWhere, "q", args.q);
  check_extents(kWhere, "k", args.k);
  check_extents(kWhere, "v", args.v);
  check_extents(kWhere, "out", args.out);
  const auto& [batches, heads, steps, channels] = args.q.shape;
  const std::int64_t kv_heads = args.k.shape[1];
  const std::int64_t values = args.v.shape[3];
  using Shape = std::array<std::int64_t, 4>;
  if (kv_heads < 1 ? heads != 0 : heads % kv_heads != 0)
    fail(kWhere, ": q has ", heads, " heads and k has ", kv_heads, "; expected a multiple");
  check_shape(kWhere, "k", args.k.shape, Shape{batches, kv_heads, steps, channels});
  check_shape(kWhere, "v", args.v.shape, Shape{batches, kv_heads, steps, values});
  check_shape(kWhere, "out", args.out.shape, Shape{batches, heads, steps, values});

  const bool gated = pool::has_decay(args.rule);
  const bool delta = pool::has_delta(args.rule);
  // Without steps or channels there are no data that could show they are there.
  const bool steps_exist = batches * kv_heads * steps > 0;
  if (!gated && args.decay.data != nullptr) fail(kWhere, ": this update rule takes no decay");
  if (!delta && args.beta.data != nullptr) fail(kWhere, ": this update rule takes no beta");
  if (gated && steps_exist && channels > 0) {
    check_extents(kWhere, "decay", args.decay);
    const std::int64_t width = args.decay.shape[3] == 1 ? 1 : channels;
    check_shape(kWhere, "decay", args.decay.shape, Shape{batches, kv_heads, steps, width});
  }
  if (delta && steps_exist) {
    check_extents(kWhere, "beta", args.beta);
    check_shape(kWhere, "beta", args.beta.shape,
                std::array<std::int64_t, 3>{batches, kv_heads, steps});
  }
  const Shape state{batches, kv_heads, channels, values};
  if (args.past.data != nullptr) check_shape(kWhere, "past", args.past.shape, state);
  if (args.state.data != nullptr) check_shape(kWhere, "state", args.state.shape, state);
}

namespace reference {
namespace {

/// The states of one kv head, step after step, and what its query heads read.
template <class T>
void linear_head(const LinearArgs<T>& args, std::int64_t b, std::int64_t kv_head) {
  const auto channels = static_cast<int>(args.q.shape[3]);
  const auto values = static_cast<int>(args.v.shape[3]);
  const std::int64_t group = args.q.shape[1] / args.k.shape[1];
  Numbers state(static_cast<std::size_t>(channels) * static_cast<std::size_t>(values));
  std::size_t entry = 0;
  for (int c = 0; c < channels && args.past.data != nullptr; ++c)
    for (int j = 0; j < values; ++j) state[entry++] = wide(*args.past.at(b, kv_head, c, j));

  Numbers write(static_cast<std::size_t>(values));
  Numbers out(static_cast<std::size_t>(values));
  for (std::int64_t t = 0; t < args.q.shape[2]; ++t) {
    const Numbers k = read(args.k.at(b, kv_head, t), args.k.strides[3], channels);
    const Numbers v = read(args.v.at(b, kv_head, t), args.v.strides[3], values);
    const bool shared = args.decay.shape[3] == 1;
    const Numbers decay =
        pool::has_decay(args.rule)
            ? read(args.decay.at(b, kv_head, t), args.decay.strides[3], shared ? 1 : channels)
            : Numbers{};
    const pool::LinearStep<double> step{
        k.data(), v.data(), decay.data(), shared ? 0 : 1,
        pool::has_delta(args.rule) ? wide(*args.beta.at(b, kv_head, t)) : 1.0};
    pool::linear_update(args.rule, step, channels, values, state.data(), write.data());
    for (std::int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
      const Numbers q = read(args.q.at(b, h, t), args.q.strides[3], channels);
      pool::linear_read(q.data(), state.data(), channels, values, args.scale, out.data());
      for (int j = 0; j < values; ++j)
        *args.out.at(b, h, t, j) = narrow<T>(out[static_cast<std::size_t>(j)]);
    }
  }
  entry = 0;
  for (int c = 0; c < channels && args.state.data != nullptr; ++c)
    for (int j = 0; j < values; ++j)
      *args.state.at(b, kv_head, c, j) = static_cast<StatOf<T>>(state[entry++]);
}

}  // namespace

template <class T>
void linear(const LinearArgs<T>& args) {
  validate(args);
  for (std::int64_t b = 0; b < args.k.shape[0]; ++b)
    for (std::int64_t h = 0; h < args.k.shape[1]; ++h) linear_head(args, b, h);
}

template void linear(const LinearArgs<double>&);
template void linear(const LinearArgs<float>&);
template void linear(const LinearArgs<BFloat16>&);
template void linear(const LinearArgs<Float16>&);

}  // namespace reference

template void validate(const LinearArgs<double>&);
template void validate(const LinearArgs<float>&);
template void validate(const LinearArgs<BFloat16>&);
template void validate(const LinearArgs<Float16>&);

}  // namespace attn
