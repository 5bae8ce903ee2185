#include "tensor/cpu/copy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "attn/tensor/tensor.hpp"
#include "tensor/convert.hpp"
#include "tensor/cpu/rows.hpp"

namespace attn::cpu {
namespace {

using op::convert;

template <class From, class To>
void copy_rows(const Tensor& from, const Tensor& to) {
  const auto* source = static_cast<const From*>(from.raw());
  auto* target = static_cast<To*>(const_cast<void*>(to.raw()));
  for_rows<2>(to.shape(), {to.strides(), from.strides()},
              [&](std::int64_t count, const std::array<std::int64_t, 2>& at,
                  const std::array<std::int64_t, 2>& step) {
                To* t = target + at[0];
                const From* s = source + at[1];
                if constexpr (std::is_same_v<From, To>) {
                  if (step[0] == 1 && step[1] == 1) {
                    std::copy_n(s, count, t);
                    return;
                  }
                }
                for (std::int64_t i = 0; i < count; ++i)
                  t[i * step[0]] = convert<To>(s[i * step[1]]);
              });
}

}  // namespace

void copy(const Tensor& from, const Tensor& to) {
  op::dispatch_any(from.dtype(), [&](auto source) {
    op::dispatch_any(to.dtype(), [&](auto target) {
      copy_rows<decltype(source), decltype(target)>(from, to);
    });
  });
}

void fill(const Tensor& to, double value) {
  op::dispatch_any(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T wanted = convert<T>(value);
    auto* target = static_cast<T*>(const_cast<void*>(to.raw()));
    for_rows<1>(to.shape(), {to.strides()},
                [&](std::int64_t count, const std::array<std::int64_t, 1>& at,
                    const std::array<std::int64_t, 1>& step) {
                  for (std::int64_t i = 0; i < count; ++i) target[at[0] + i * step[0]] = wanted;
                });
  });
}

}  // namespace attn::cpu
