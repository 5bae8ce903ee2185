#include "kernels/support/run.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "attn/kernels/reference/attention.hpp"
#include "kernels/support/inputs.hpp"
#include "support/tolerance.hpp"

namespace attn::test {
namespace {

/// Buffers for the gradients of all tables, filled with what must be overwritten.
template <class T>
class TableGrads {
 public:
  explicit TableGrads(const Problem& problem) : problem_(problem) {
    grads_.scores.resize(problem.recipe.scores.size());
    grads_.weight_modifiers.resize(problem.recipe.weight_modifiers.size());
    for (const TestTable& entry : problem.tables) {
      auto& buffer = buffers_.emplace_back(entry.f32.size(), T(1e3));
      const TableGrad grad = entry.grad(buffer.data(), kDType<T>);
      const auto index = static_cast<std::size_t>(entry.place.index);
      const auto slot = static_cast<std::size_t>(entry.place.slot);
      switch (entry.place.stage) {
        case TablePlace::Stage::similarity:
          grads_.weights = grad;
          break;
        case TablePlace::Stage::score:
          grads_.scores[index][slot] = grad;
          break;
        case TablePlace::Stage::normaliser:
          grads_.normaliser[slot] = grad;
          break;
        case TablePlace::Stage::factor:
          grads_.weight_modifiers[index][slot] = grad;
          break;
      }
    }
  }
  const RecipeGrads& get() const { return grads_; }

  std::vector<std::vector<double>> values() const {
    std::vector<std::vector<double>> result;
    for (std::size_t t = 0; t < buffers_.size(); ++t) {
      auto& numbers = result.emplace_back();
      const auto spacing = static_cast<std::size_t>(problem_.tables[t].spacing);
      for (std::size_t i = 0; i < buffers_[t].size(); i += spacing)
        numbers.push_back(static_cast<double>(buffers_[t][i]));
      // A table without entries has a buffer of one number, which is nobody's.
      std::int64_t size = 1;
      for (const std::int64_t extent : problem_.tables[t].shape) size *= extent;
      if (size == 0) numbers.clear();
    }
    return result;
  }

 private:
  const Problem& problem_;
  std::deque<std::vector<T>> buffers_;
  RecipeGrads grads_;
};

template <class T>
Results results_of(Inputs<T>& from, std::vector<std::vector<double>> tables) {
  Results all{from.out.values(),
              from.stat.values(),
              from.dq.values(),
              from.dk.values(),
              from.dv.values(),
              std::move(tables),
              ""};
  all.damage = from.out.damage() + from.stat.damage() + from.dq.damage() + from.dk.damage() +
               from.dv.damage() + from.similarities.damage();
  return all;
}

template <class T>
Results run_typed(const Problem& p, const cpu::Context& context, bool with_stat) {
  Inputs<T> inputs(p, p.spec.q_lay, p.spec.kv_lay, p.spec.out_lay);
  TableGrads<float> tables(p);
  cpu::forward(inputs.forward_args(with_stat), p.recipe, context);
  if (with_stat) cpu::backward(inputs.backward_args(), p.recipe, tables.get(), context);
  return results_of(inputs, tables.values());
}

}  // namespace

Results run_reference(const Problem& p) {
  Inputs<double> inputs(p, Lay::packed, Lay::packed, Lay::packed);
  TableGrads<double> tables(p);
  const Recipe exact = p.exact();
  reference::forward(inputs.forward_args(true), exact);
  reference::backward(inputs.backward_args(), exact, tables.get());
  return results_of(inputs, tables.values());
}

Results forward_reference(const Problem& p) {
  Inputs<double> inputs(p, Lay::packed, Lay::packed, Lay::packed);
  reference::forward(inputs.forward_args(true), p.exact());
  return {.out = inputs.out.values(), .stat = inputs.stat.values()};
}

Results run_cpu(const Problem& p, const cpu::Context& context, bool with_stat) {
  if (p.spec.dtype == DType::bf16) return run_typed<BFloat16>(p, context, with_stat);
  if (p.spec.dtype == DType::f16) return run_typed<Float16>(p, context, with_stat);
  return run_typed<float>(p, context, with_stat);
}

std::vector<double> reference_weights(const Problem& p) {
  Inputs<double> inputs(p, Lay::packed, Lay::packed, Lay::packed);
  Strided<double> weights(p.weights_shape(), Lay::packed);
  reference::weights(inputs.forward_args(false), p.exact(), weights.view());
  return weights.values();
}

double table_tolerance(const Problem& p, std::size_t t, DType dtype) {
  const Spec& spec = p.spec;
  const int rows = std::max(1, spec.batch * spec.heads() * spec.queries);
  const TestTable& table = p.tables[t];
  const bool shared = table.place.stage == TablePlace::Stage::similarity && table.shape[3] == 1;
  const int terms = std::max(1, spec.keys) * (shared ? std::max(1, spec.channels) : 1);
  return gradient_tolerance(dtype, rows * terms, rows);
}

std::string difference(const Problem& p, const Results& got, const Results& want) {
  const Spec& spec = p.spec;
  const int longest = std::max({1, spec.keys, spec.queries * spec.group});
  const double output = tolerance(spec.dtype, longest);
  const double gradient = gradient_tolerance(spec.dtype, longest, spec.group);
  std::string wrong = difference("out", got.out, want.out, output) +
                      difference("stat", got.stat, want.stat, tolerance(DType::f32, longest)) +
                      difference("dq", got.dq, want.dq, gradient) +
                      difference("dk", got.dk, want.dk, gradient) +
                      difference("dv", got.dv, want.dv, gradient);
  for (std::size_t t = 0; t < want.tables.size(); ++t)
    wrong += difference("gradient of table " + std::to_string(t), got.tables[t], want.tables[t],
                        table_tolerance(p, t, spec.dtype));
  return wrong + got.damage;
}

std::vector<Target> targets() {
  std::vector<Target> result;
  for (const Target target : cpu::kBuiltTargets)
    if (cpu::available(target)) result.push_back(target);
  return result;
}

}  // namespace attn::test
