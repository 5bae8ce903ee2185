#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "nn/gpu/optimiser.hpp"
#include "tensor/gpu/launch.cuh"
#include "tensor/gpu/team.cuh"

namespace attn::gpu {
namespace {

/// As many as fit the 4 KB of arguments that a launch takes everywhere.
constexpr std::size_t kMost = 64;

/// Tensors of one launch.
template <class Entry>
struct Entries {
  Entry list[kMost];
};

/// One that an optimiser changes; what it does not keep is null. G is the gradient's type.
template <class G>
struct Update {
  using W = WideOf<G>;
  std::int64_t count;
  W* parameter;
  const G* grad;
  W* first;
  W* second;
  G* rounded;

  __device__ void set(std::int64_t i, W number) const {
    parameter[i] = number;
    if (rounded != nullptr) rounded[i] = op::convert<G>(number);
  }
};

template <class T>
struct Numbers {
  std::int64_t count;
  T* data;
};

/// Blocks a tensor gets at most: eight of them keep all multiprocessors busy.
constexpr std::int64_t kBlocks = 256;

template <class G>
__global__ void adam_kernel(nn::AdamStep step, Entries<Update<G>> entries) {
  using W = WideOf<G>;
  const Update<G> e = entries.list[blockIdx.y];
  for_numbers(e.count, [&](std::int64_t i) {
    const nn::AdamNumbers<W> now = step.update(
        wide(e.grad[i]), nn::AdamNumbers<W>{e.parameter[i], e.first[i], e.second[i]});
    e.set(i, now.parameter);
    e.first[i] = now.mean;
    e.second[i] = now.square;
  });
}

template <class G>
__global__ void sgd_kernel(nn::SgdStep step, Entries<Update<G>> entries) {
  using W = WideOf<G>;
  const Update<G> e = entries.list[blockIdx.y];
  for_numbers(e.count, [&](std::int64_t i) {
    const W velocity = e.first == nullptr ? W(0) : e.first[i];
    const nn::SgdNumbers<W> now =
        step.update(wide(e.grad[i]), nn::SgdNumbers<W>{e.parameter[i], velocity});
    e.set(i, now.parameter);
    if (e.first != nullptr) e.first[i] = now.velocity;
  });
}

template <class G>
__global__ void approach_kernel(double share, Entries<Update<G>> entries) {
  using W = WideOf<G>;
  const Update<G> e = entries.list[blockIdx.y];
  for_numbers(e.count, [&](std::int64_t i) {
    e.parameter[i] += static_cast<W>(share) * (wide(e.grad[i]) - e.parameter[i]);
  });
}

template <class T>
__global__ void scale_kernel(double factor, Entries<Numbers<T>> entries) {
  using W = WideOf<T>;
  const Numbers<T> e = entries.list[blockIdx.y];
  for_numbers(e.count, [&](std::int64_t i) {
    e.data[i] = op::convert<T>(wide(e.data[i]) * static_cast<W>(factor));
  });
}

/// parts[tensor, block].
template <class T>
__global__ void squares_kernel(Entries<Numbers<T>> entries, double* parts) {
  const Numbers<T> e = entries.list[blockIdx.y];
  WideOf<T> sum(0);
  for_numbers(e.count, [&](std::int64_t i) { sum += wide(e.data[i]) * wide(e.data[i]); });
  const double total = Team<kThreads>::sum(static_cast<double>(sum));
  if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = total;
}

__global__ void total_kernel(std::int64_t count, const double* parts, double* total) {
  double sum = 0.0;
  for (std::int64_t i = threadIdx.x; i < count; i += kThreads) sum += parts[i];
  sum = Team<kThreads>::sum(sum);
  if (threadIdx.x == 0) *total += sum;
}

template <class T>
T* or_null(const Tensor& x) {
  return x.defined() ? op::numbers<T>(x) : nullptr;
}

/// Calls run(entries, grid) for groups of `all`, whose entries `make` makes.
template <class Entry, class Item, class Make, class Run>
void in_groups(const std::vector<Item>& all, const Make& make, const Run& run) {
  for (std::size_t begin = 0; begin < all.size(); begin += kMost) {
    const std::size_t end = std::min(all.size(), begin + kMost);
    Entries<Entry> entries;
    std::int64_t longest = 0;
    for (std::size_t i = begin; i < end; ++i) {
      entries.list[i - begin] = make(all[i]);
      longest = std::max(longest, entries.list[i - begin].count);
    }
    const auto blocks = std::min<std::int64_t>(blocks_for(longest), kBlocks);
    run(entries, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(end - begin)));
    check_launch();
  }
}

template <class Run>
void in_updates(const char* where, const std::vector<Updated>& all, const Run& run) {
  if (all.empty()) return;
  dispatch_numbers(all.front().grad.dtype(), where, [&](auto zero) {
    using G = decltype(zero);
    using W = WideOf<G>;
    in_groups<Update<G>>(
        all,
        [](const Updated& own) -> Update<G> {
          return {own.parameter.numel(),          op::numbers<W>(own.parameter),
                  op::numbers<const G>(own.grad), or_null<W>(own.first),
                  or_null<W>(own.second),         or_null<G>(own.rounded)};
        },
        run);
  });
}

template <class Run>
void in_tensors(const std::vector<Tensor>& all, const Run& run) {
  if (all.empty()) return;
  dispatch_numbers(all.front().dtype(), "attn::nn::clip_gradients", [&](auto zero) {
    using T = decltype(zero);
    in_groups<Numbers<T>>(
        all, [](const Tensor& x) -> Numbers<T> { return {x.numel(), op::numbers<T>(x)}; }, run);
  });
}

}  // namespace

void adam(const nn::AdamStep& step, const std::vector<Updated>& all) {
  in_updates("attn::nn::Adam::step", all, [&](const auto& entries, const dim3& grid) {
    adam_kernel<<<grid, kThreads, 0, stream()>>>(step, entries);
  });
}

void sgd(const nn::SgdStep& step, const std::vector<Updated>& all) {
  in_updates("attn::nn::Sgd::step", all, [&](const auto& entries, const dim3& grid) {
    sgd_kernel<<<grid, kThreads, 0, stream()>>>(step, entries);
  });
}

void approach(double share, const std::vector<Updated>& all) {
  in_updates("attn::tasks::WeightAverage", all, [&](const auto& entries, const dim3& grid) {
    approach_kernel<<<grid, kThreads, 0, stream()>>>(share, entries);
  });
}

double sum_of_squares(const std::vector<Tensor>& all) {
  const Tensor total = Tensor::zeros({1}, DType::f64, Device::gpu);
  in_tensors(all, [&](const auto& entries, const dim3& grid) {
    const std::int64_t count = static_cast<std::int64_t>(grid.x) * grid.y;
    const Tensor parts = Tensor::empty({count}, DType::f64, Device::gpu);
    squares_kernel<<<grid, kThreads, 0, stream()>>>(entries, op::numbers<double>(parts));
    total_kernel<<<1, kThreads, 0, stream()>>>(count, op::numbers<const double>(parts),
                                               op::numbers<double>(total));
  });
  return total.item();
}

void scale(double factor, const std::vector<Tensor>& all) {
  in_tensors(all, [&](const auto& entries, const dim3& grid) {
    scale_kernel<<<grid, kThreads, 0, stream()>>>(factor, entries);
  });
}

}  // namespace attn::gpu
