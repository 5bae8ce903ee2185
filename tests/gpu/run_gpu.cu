// Runs a problem of the kernels' tests on the GPU and copies the results back.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "attn/kernels/gpu/attention.hpp"
#include "attn/kernels/gpu/error.hpp"
#include "attn/kernels/gpu/rows.hpp"
#include "gpu/run_gpu.hpp"
#include "kernels/support/inputs.hpp"
#include "support/tolerance.hpp"

namespace attn::test {
namespace {

/// Memory of the GPU that mirrors memory of the host.
class Mirror {
 public:
  Mirror(void* host, std::size_t bytes) : host_(host), bytes_(bytes) {
    ATTN_CUDA_CALL(cudaMalloc(&device_, std::max<std::size_t>(bytes, 16)));
    if (bytes > 0) ATTN_CUDA_CALL(cudaMemcpy(device_, host, bytes, cudaMemcpyHostToDevice));
  }
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;
  ~Mirror() { cudaFree(device_); }

  void fetch() {
    if (bytes_ > 0) ATTN_CUDA_CALL(cudaMemcpy(host_, device_, bytes_, cudaMemcpyDeviceToHost));
  }
  void* device() const { return device_; }
  const void* host() const { return host_; }

 private:
  void* host_;
  std::size_t bytes_;
  void* device_ = nullptr;
};

class Mirrors {
 public:
  /// The view over the GPU's copy of everything between its first and last element.
  template <class T, int kRank>
  View<T, kRank> put(View<T, kRank> view) {
    if (view.data == nullptr || view.size() == 0) return view;
    std::int64_t low = 0;
    std::int64_t high = 0;
    for (std::size_t axis = 0; axis < kRank; ++axis) {
      const std::int64_t reach = (view.shape[axis] - 1) * view.strides[axis];
      (reach < 0 ? low : high) += reach;
    }
    auto* first = const_cast<std::remove_const_t<T>*>(view.data) + low;
    const Mirror& made =
        all_.emplace_back(first, static_cast<std::size_t>(high - low + 1) * sizeof(T));
    view.data = static_cast<T*>(made.device()) - low;
    return view;
  }
  template <class T>
  T* put(const std::vector<T>& list) {
    return static_cast<T*>(
        all_.emplace_back(const_cast<T*>(list.data()), list.size() * sizeof(T)).device());
  }
  void fetch() {
    for (Mirror& mirror : all_) mirror.fetch();
  }
  /// Pointers to mirrored memory inside a functor become pointers to the mirror.
  void redirect(StageData& data) const {
    for (std::size_t at = 0; at + sizeof(void*) <= data.functor.size(); at += sizeof(void*)) {
      const void* pointer = nullptr;
      std::memcpy(&pointer, data.functor.data() + at, sizeof(pointer));
      for (const Mirror& mirror : all_) {
        if (pointer == nullptr || pointer != mirror.host()) continue;
        const void* moved = mirror.device();
        std::memcpy(data.functor.data() + at, &moved, sizeof(moved));
        break;
      }
    }
    for (int slot = 0; slot < data.slots; ++slot)
      redirect(data.tables[static_cast<std::size_t>(slot)]);
  }
  void redirect(Table& table) const {
    for (const Mirror& mirror : all_)
      if (table.data != nullptr && table.data == mirror.host()) table.data = mirror.device();
  }
  void redirect(MaskTree& tree) const {
    redirect(tree.leaf.data);
    for (MaskTree& child : tree.children) redirect(child);
  }

 private:
  std::deque<Mirror> all_;
};

Recipe device_recipe(const Problem& p, const Recipe& from, Mirrors& mirrors) {
  for (const TestTable& table : p.tables) {
    mirrors.put(table.f32);
    mirrors.put(table.f64);
  }
  for (const auto& list : p.numbers) mirrors.put(list);
  for (const auto& list : p.flags) mirrors.put(list);
  Recipe recipe = from;
  mirrors.redirect(recipe.weights);
  for (AnyScore& score : recipe.scores) mirrors.redirect(score.data);
  for (MaskTree& mask : recipe.masks) mirrors.redirect(mask);
  mirrors.redirect(recipe.normaliser.data);
  for (AnyWeight& factor : recipe.weight_modifiers) mirrors.redirect(factor.stage.data);
  return recipe;
}

/// Runs forward and backward on the GPU's copies: run(forward, backward, recipe, grads,
/// memory to work in).
template <class T, class Run>
Results run_typed(const Problem& p, const Recipe& from,
                  std::size_t (*bytes)(const BackwardArgs<T>&), const Run& run) {
  using S = StatOf<T>;
  Inputs<T> inputs(p, p.spec.q_lay, p.spec.kv_lay, p.spec.out_lay);
  Mirrors constants;
  const Recipe recipe = device_recipe(p, from, constants);

  Mirrors data;
  const ForwardArgs<T> host = inputs.forward_args(true);
  const BackwardArgs<T> back = inputs.backward_args();
  const ForwardArgs<T> forward{.q = data.put(host.q),
                               .k = data.put(host.k),
                               .v = data.put(host.v),
                               .out = data.put(host.out),
                               .stat = data.put(host.stat)};
  const BackwardArgs<T> backward{
      .q = forward.q,
      .k = forward.k,
      .v = forward.v,
      .out = forward.out,
      .stat = forward.stat,
      .d_out = data.put(back.d_out),
      .d_stat = data.put(back.d_stat),
      .d_weights = {.all = data.put(back.d_weights.all),
                    .column_sums = data.put(back.d_weights.column_sums),
                    .distance_sums = data.put(back.d_weights.distance_sums),
                    .distance_offset = back.d_weights.distance_offset},
      .dq = data.put(back.dq),
      .dk = data.put(back.dk),
      .dv = data.put(back.dv)};
  std::deque<std::vector<S>> tables;
  RecipeGrads grads;
  grads.scores.resize(p.recipe.scores.size());
  grads.weight_modifiers.resize(p.recipe.weight_modifiers.size());
  for (const TestTable& table : p.tables) {
    auto& buffer = tables.emplace_back(table.f32.size(), S(1e3));
    const TableGrad grad = table.grad(data.put(buffer), kDType<S>);
    const auto index = static_cast<std::size_t>(table.place.index);
    const auto slot = static_cast<std::size_t>(table.place.slot);
    if (table.place.stage == TablePlace::Stage::similarity) grads.weights = grad;
    if (table.place.stage == TablePlace::Stage::score) grads.scores[index][slot] = grad;
    if (table.place.stage == TablePlace::Stage::normaliser) grads.normaliser[slot] = grad;
    if (table.place.stage == TablePlace::Stage::factor)
      grads.weight_modifiers[index][slot] = grad;
  }
  std::vector<unsigned char> workspace(bytes(backward), 0xff);
  run(forward, backward, recipe, grads, constants.put(workspace));
  ATTN_CUDA_CALL(cudaDeviceSynchronize());
  data.fetch();

  Results all{inputs.out.values(),
              inputs.stat.values(),
              inputs.dq.values(),
              inputs.dk.values(),
              inputs.dv.values(),
              {},
              ""};
  for (std::size_t t = 0; t < tables.size(); ++t) {
    auto& numbers = all.tables.emplace_back();
    for (std::size_t i = 0; i < tables[t].size(); i += p.tables[t].spacing)
      numbers.push_back(static_cast<double>(tables[t][i]));
    if (elements(p.tables[t].shape) == 0) numbers.clear();
  }
  all.damage = inputs.out.damage() + inputs.stat.damage() + inputs.dq.damage() +
               inputs.dk.damage() + inputs.dv.damage();
  return all;
}

template <class T>
Results run_fused(const Problem& p, gpu::Determinism determinism) {
  return run_typed<T>(p, p.recipe, &gpu::backward_workspace<T>,
                      [&](const auto& forward, const auto& backward, const Recipe& recipe,
                          const RecipeGrads& grads, void* space) {
                        gpu::forward(forward, recipe);
                        gpu::backward(backward, recipe, grads, space, nullptr, determinism);
                      });
}

/// Backward works in more memory than forward.
template <class T>
Results run_rows(const Problem& p, const Recipe& from) {
  return run_typed<T>(p, from, &gpu::rows_backward_workspace<T>,
                      [&](const auto& forward, const auto& backward, const Recipe& recipe,
                          const RecipeGrads& grads, void* space) {
                        gpu::rows_forward(forward, recipe, {}, space);
                        gpu::rows_backward(backward, recipe, grads, space);
                      });
}

}  // namespace

Results run_gpu(const Problem& p, gpu::Determinism determinism) {
  if (p.spec.dtype == DType::bf16) return run_fused<BFloat16>(p, determinism);
  if (p.spec.dtype == DType::f16) return run_fused<Float16>(p, determinism);
  return run_fused<float>(p, determinism);
}

Results run_gpu_rows(const Problem& p, DType dtype) {
  if (dtype == DType::f64) return run_rows<double>(p, p.exact());
  if (dtype == DType::bf16) return run_rows<BFloat16>(p, p.recipe);
  if (dtype == DType::f16) return run_rows<Float16>(p, p.recipe);
  return run_rows<float>(p, p.recipe);
}

std::string gpu_difference(const Problem& p, const Results& got, const Results& want) {
  return gpu_difference(p, got, want, p.spec.dtype);
}

std::string gpu_difference(const Problem& p, const Results& got, const Results& want,
                           DType dtype) {
  const Spec& spec = p.spec;
  const int longest = std::max({1, spec.keys, spec.queries * spec.group});
  // Exponentials and the products of three TF32 numbers are good to 2^-21; weights and their
  // gradients are rounded to 16 bits once more on their way into a product.
  const double extra = dtype == DType::bf16 || dtype == DType::f16 ? 2.0 : 8.0;
  const double output = extra * tolerance(dtype, longest);
  const double gradient = extra * gradient_tolerance(dtype, longest, spec.group);
  const DType stat = dtype == DType::f64 ? DType::f64 : DType::f32;
  std::string wrong = difference("out", got.out, want.out, output) +
                      difference("stat", got.stat, want.stat, 8.0 * tolerance(stat, longest)) +
                      difference("dq", got.dq, want.dq, gradient) +
                      difference("dk", got.dk, want.dk, gradient) +
                      difference("dv", got.dv, want.dv, gradient);
  for (std::size_t t = 0; t < want.tables.size(); ++t)
    wrong += difference("gradient of table " + std::to_string(t), got.tables[t], want.tables[t],
                        extra * table_tolerance(p, t, dtype));
  return wrong + got.damage;
}

}  // namespace attn::test
