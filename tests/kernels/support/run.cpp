#include "kernels/support/run.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "attn/kernels/reference/attention.hpp"
#include "support/tolerance.hpp"

namespace attn::test {
namespace {

/// Buffers for the gradients of all tables, filled with what must be overwritten.
template <class T>
class TableGrads {
 public:
  explicit TableGrads(const Problem& problem) : problem_(problem) {
    grads_.scores.resize(problem.recipe.scores.size());
    grads_.factors.resize(problem.recipe.factors.size());
    for (const TestTable& entry : problem.tables) {
      auto& buffer = buffers_.emplace_back(entry.f32.size(), T(1e3));
      const TableGrad grad = entry.grad(buffer.data(), kDType<T>);
      const auto index = static_cast<std::size_t>(entry.place.index);
      const auto slot = static_cast<std::size_t>(entry.place.slot);
      switch (entry.place.stage) {
        case TablePlace::Stage::similarity: grads_.weights = grad; break;
        case TablePlace::Stage::score: grads_.scores[index][slot] = grad; break;
        case TablePlace::Stage::normaliser: grads_.normaliser[slot] = grad; break;
        case TablePlace::Stage::factor: grads_.factors[index][slot] = grad; break;
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

/// The numbers of a problem in one element type.
template <class T>
struct Inputs {
  using S = StatOf<T>;

  const Problem& p;
  Strided<T> q, k, v, out, d_out, dq, dk, dv;
  Strided<S> stat, d_stat, d_all, d_columns, d_distances;

  Inputs(const Problem& problem, Lay q_lay, Lay kv_lay, Lay out_lay)
      : p(problem),
        q(p.q_shape(), q_lay, p.q),
        k(p.k_shape(), kv_lay, p.k),
        v(p.v_shape(), kv_lay, p.v),
        out(p.out_shape(), out_lay),
        d_out(p.out_shape(), q_lay, p.d_out),
        dq(p.q_shape(), out_lay),
        dk(p.k_shape(), out_lay),
        dv(p.v_shape(), out_lay),
        stat(stat_shape(), out_lay),
        d_stat(stat_shape(), q_lay),
        d_all({0, 0, 0, 0}, Lay::packed),
        d_columns({0, 0, 0, 0}, Lay::packed),
        d_distances({0, 0, 0, 0}, Lay::packed) {
    if (p.spec.d_stat) d_stat = Strided<S>(stat_shape(), q_lay, p.d_stat);
    if (!p.spec.d_weights) return;
    const std::int64_t b = p.spec.batch, h = p.spec.heads(), n = p.spec.queries;
    d_all = Strided<S>(p.weights_shape(), q_lay, p.d_all);
    d_columns = Strided<S>({b, h, p.spec.keys, 1}, q_lay, p.d_columns);
    d_distances = Strided<S>({b, h, n, 2 * p.distance_reach + 1}, q_lay, p.d_distances);
  }
  Shape stat_shape() const { return {p.spec.batch, p.spec.heads(), p.spec.queries, 1}; }

  template <class U>
  static View<U, 3> flat(Strided<U>& array) {
    const View<U, 4> all = array.view();
    return {all.data, {all.shape[0], all.shape[1], all.shape[2]},
            {all.strides[0], all.strides[1], all.strides[2]}};
  }

  ForwardArgs<T> forward_args(bool with_stat) {
    ForwardArgs<T> args{.q = q.view(), .k = k.view(), .v = v.view(), .out = out.view()};
    if (with_stat) args.stat = flat(stat);
    return args;
  }
  BackwardArgs<T> backward_args() {
    BackwardArgs<T> args{.q = q.view(),
                         .k = k.view(),
                         .v = v.view(),
                         .out = out.view(),
                         .stat = flat(stat),
                         .d_out = d_out.view(),
                         .dq = dq.view(),
                         .dk = dk.view(),
                         .dv = dv.view()};
    if (p.spec.d_stat) args.d_stat = flat(d_stat);
    if (p.spec.d_weights) {
      args.d_weights.all = d_all.view();
      args.d_weights.column_sums = flat(d_columns);
      args.d_weights.distance_sums = d_distances.view();
      args.d_weights.distance_offset = p.distance_offset;
    }
    return args;
  }
  Results results(std::vector<std::vector<double>> tables) {
    Results all{out.values(), stat.values(), dq.values(), dk.values(), dv.values(),
                std::move(tables), ""};
    all.damage = out.damage() + stat.damage() + dq.damage() + dk.damage() + dv.damage();
    return all;
  }
};

template <class T>
Results run_typed(const Problem& p, const cpu::Context& context, bool with_stat) {
  Inputs<T> inputs(p, p.spec.q_lay, p.spec.kv_lay, p.spec.out_lay);
  TableGrads<float> tables(p);
  cpu::forward(inputs.forward_args(with_stat), p.recipe, context);
  if (with_stat) cpu::backward(inputs.backward_args(), p.recipe, tables.get(), context);
  return inputs.results(tables.values());
}

}  // namespace

Results run_reference(const Problem& p) {
  Inputs<double> inputs(p, Lay::packed, Lay::packed, Lay::packed);
  TableGrads<double> tables(p);
  const Recipe exact = p.exact();
  reference::forward(inputs.forward_args(true), exact);
  reference::backward(inputs.backward_args(), exact, tables.get());
  return inputs.results(tables.values());
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

std::string difference(const Problem& p, const Results& got, const Results& want) {
  const Spec& spec = p.spec;
  const int rows = std::max(1, spec.batch * spec.heads() * spec.queries);
  const int longest = std::max({1, spec.keys, spec.queries * spec.group});
  const double output = tolerance(spec.dtype, longest);
  const double gradient = gradient_tolerance(spec.dtype, longest, spec.group);
  const double table = gradient_tolerance(spec.dtype, rows * std::max(1, spec.keys), rows);
  std::string wrong = difference("out", got.out, want.out, output) +
                      difference("stat", got.stat, want.stat, tolerance(DType::f32, longest)) +
                      difference("dq", got.dq, want.dq, gradient) +
                      difference("dk", got.dk, want.dk, gradient) +
                      difference("dv", got.dv, want.dv, gradient);
  for (std::size_t t = 0; t < want.tables.size(); ++t)
    wrong += difference("gradient of table " + std::to_string(t), got.tables[t], want.tables[t],
                        table);
  return wrong + got.damage;
}

std::vector<Target> targets() {
  std::vector<Target> result;
  for (const Target target : cpu::kBuiltTargets)
    if (cpu::available(target)) result.push_back(target);
  return result;
}

}  // namespace attn::test
