#include "models/packed_linear.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/shape.hpp"
#include "attn/tensor/storage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/cpu/packed_table.hpp"
#include "tensor/op.hpp"

namespace attn::models {
namespace {

/// Multiply-adds worth a thread of their own: some 20 us. Between the layers of a step a thread
/// is still looking for work, and begins within a microsecond.
constexpr std::int64_t kTask = 1 << 20;

std::int64_t panels_of(std::int64_t columns) {
  const std::int64_t panel = cpu::packed_table().panel;
  return (columns + panel - 1) / panel;
}

/// Whether bf16 says the same of all of them.
bool exact_in_bf16(const Tensor& numbers) {
  const float* at = numbers.data<float>();
  return std::all_of(at, at + numbers.numel(),
                     [](float x) { return (std::bit_cast<std::uint32_t>(x) & 0xFFFFu) == 0; });
}

/// The step of which all are whole multiples that bf16 can say, as numbers are that came from 8
/// bits; 0: there is none. Of as many as a layer has, some are the step itself.
float step_of(const Tensor& numbers) {
  constexpr float kMost = 256.0f;  // bf16 has all whole numbers up to here
  const float* at = numbers.data<float>();
  const float* end = at + numbers.numel();
  float step = std::numeric_limits<float>::infinity();
  for (const float* x = at; x != end; ++x)
    if (*x != 0.0f) step = std::min(step, std::abs(*x));
  // Neither what is not finite nor what has lost bits.
  if (!std::isfinite(step) || !std::isnormal(step)) return 0.0f;
  const float inverse = 1.0f / step;
  const bool all = std::all_of(at, end, [&](float x) {
    const float multiple = std::nearbyint(x * inverse);
    return std::abs(multiple) <= kMost && multiple * step == x;
  });
  return all ? step : 0.0f;
}

}  // namespace

PackedLinear::PackedLinear(const Tensor& weight, const Tensor& bias)
    : weight_(weight.detach().contiguous()), bias_(bias.detach().contiguous()) {
  // On the GPU products are made of weights as they lie.
  if (weight.device() != Device::cpu || weight.dtype() != DType::f32 || weight.numel() == 0)
    return;
  const cpu::PackedTable& table = cpu::packed_table();
  const std::int64_t out = weight.size(0);
  const std::int64_t in = weight.size(1);
  panels_ = Tensor::empty({panels_of(out) * table.panel * in});
  const bool exact = exact_in_bf16(weight_);
  const float step = exact ? 1.0f : step_of(weight_);
  Tensor whole = weight_;
  if (!exact && step > 0.0f) {
    whole = Tensor::empty(weight_.shape());
    const float* numbers = weight_.data<float>();
    std::transform(numbers, numbers + weight_.numel(), whole.mutable_data<float>(),
                   [inverse = 1.0f / step](float x) { return std::nearbyint(x * inverse); });
    step_ = step;
  }
  const cpu::UnpackedMatrix from{whole.data<float>(), 1, in};
  const cpu::PackedMatrix to{in, out, panels_.mutable_data<float>()};
  table.pack(from, to, 0, panels_of(out));
  if (!exact && step == 0.0f) return;
  const Tensor narrow = Tensor::empty(panels_.shape(), DType::bf16);
  table.narrow(panels_.numel(), panels_.data<float>(),
               reinterpret_cast<std::uint32_t*>(narrow.mutable_data<BFloat16>()));
  panels_ = narrow;
}

/// Columns are made by themselves, so the number of threads changes no bit.
void PackedLinear::multiply_columns(const Tensor& x, const Tensor& added, const Tensor& out,
                                    std::int64_t first_panel, std::int64_t last_panel) const {
  const cpu::PackedTable& table = cpu::packed_table();
  const std::int64_t in = weight_.size(1);
  const std::int64_t width = weight_.size(0);
  const std::int64_t rows = x.numel() / in;
  const std::int64_t first = first_panel * table.panel;
  const std::int64_t columns = std::min(width, last_panel * table.panel) - first;
  const float* bias = bias_.data<float>() + first;
  float* to = out.mutable_data<float>() + first;
  for (std::int64_t row = 0; row < rows; ++row) {
    float* c = to + row * width;
    if (added.defined()) {
      const float* more = added.data<float>() + row * width + first;
      for (std::int64_t j = 0; j < columns; ++j) c[j] = bias[j] + more[j];
    } else {
      std::copy_n(bias, columns, c);
    }
  }
  // Panels are read and not written.
  cpu::PackedMatrix panels{.k = in, .n = columns};
  if (panels_.dtype() == DType::bf16) {
    auto* narrow = const_cast<BFloat16*>(panels_.data<BFloat16>()) + first * in;
    panels.narrow = reinterpret_cast<std::uint32_t*>(narrow);
  } else {
    panels.panels = const_cast<float*>(panels_.data<float>()) + first * in;
  }
  table.multiply_add(panels, {rows, x.data<float>(), in, to, width});
}

Tensor PackedLinear::multiply(const Tensor& x, const Tensor& added) const {
  Shape shape = x.shape();
  shape[-1] = weight_.size(0);
  const Tensor out = Tensor::empty(shape);
  const Tensor from = step_ == 1.0f ? x.contiguous() : (x * step_).contiguous();
  const Tensor more = added.defined() ? added.contiguous() : added;
  const std::int64_t of_a_panel =
      cpu::packed_table().panel * std::max<std::int64_t>(1, x.numel());
  op::in_blocks(panels_of(weight_.size(0)), std::max<std::int64_t>(1, kTask / of_a_panel),
                [&](std::int64_t begin, std::int64_t end) {
                  multiply_columns(from, more, out, begin, end);
                });
  return out;
}

Tensor PackedLinear::operator()(const Tensor& x, Then then) const {
  const NoGrad off_the_tape;
  if (!panels_.defined())
    return then == Then::relu ? linear_relu(x, weight_, bias_) : linear(x, weight_, bias_);
  return then == Then::relu ? relu(multiply(x, {})) : multiply(x, {});
}

Tensor PackedLinear::plus(const Tensor& x, const Tensor& added) const {
  const NoGrad off_the_tape;
  return panels_.defined() ? multiply(x, added) : linear_plus(x, weight_, bias_, added);
}

PackedLinear PackedLayers::get(const Tensor& weight, const Tensor& bias) {
  const Tensor::Impl& w = weight.impl();
  const Tensor::Impl& b = bias.impl();
  const std::uint64_t writes = w.storage->version() + b.storage->version();
  const std::lock_guard lock(guard_);
  const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& each) {
    return each.weight == w.storage && each.bias == b.storage && each.offset == w.offset;
  });
  if (entry == entries_.end()) {
    // Nobody asks again for memory that is held here alone, by the entry and its layer.
    std::erase_if(entries_, [](const Entry& each) { return each.weight.use_count() <= 2; });
    entries_.push_back({w.storage, b.storage, w.offset, writes, PackedLinear(weight, bias)});
    return entries_.back().packed;
  }
  if (entry->writes != writes) {
    entry->packed = PackedLinear(weight, bias);
    entry->writes = writes;
  }
  return entry->packed;
}

}  // namespace attn::models
