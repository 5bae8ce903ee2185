#include "attn/kernels/reference/attention.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "attn/kernels/args.hpp"
#include "attn/kernels/layout.hpp"
#include "kernels/reference/numbers.hpp"
#include "kernels/row_reader.hpp"
#include "kernels/similarity.hpp"

namespace attn::reference {
namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

/// w of the similarity for one kv head; empty where it has none.
Numbers similarity_weights(const Recipe& recipe, int kv_head) {
  Numbers w;
  if (recipe.weights.data == nullptr) return w;
  const Params<double> p{&recipe.weights, 0, kv_head, 0};
  for (std::int64_t c = 0; c < recipe.weights.shape[3]; ++c)
    w.push_back(p.at(0, static_cast<int>(c)));
  return w;
}

/// Which similarities the recipe scales.
double scale_of(const Recipe& recipe) {
  const bool scaled =
      recipe.similarity == Similarity::dot || recipe.similarity == Similarity::cosine;
  return scaled ? static_cast<double>(recipe.scale) : 1.0;
}

double similarity(const Recipe& recipe, const Numbers& q, const Numbers& k, const Numbers& w) {
  double result = 0.0;
  visit_similarity(recipe.similarity, static_cast<int>(w.size()), [&](auto s) {
    result = decltype(s)::score(q.data(), k.data(), static_cast<int>(q.size()), w.data());
  });
  return scale_of(recipe) * result;
}

/// Adds the gradients of one pair's similarity.
void similarity_backward(const Recipe& recipe, double grad, const Numbers& q, const Numbers& k,
                         const Numbers& w, double* dq, double* dk, double* dw) {
  visit_similarity(recipe.similarity, static_cast<int>(w.size()), [&](auto s) {
    decltype(s)::backward(grad * scale_of(recipe), q.data(), k.data(),
                          static_cast<int>(q.size()), w.data(), dq, dk, dw);
  });
}

/// One row of scores on its way through the stages; `inputs` are what each modifier saw.
struct ScoreRow {
  std::vector<Numbers> inputs;
  Numbers s;
};

ScoreRow score_row(const Recipe& recipe, std::size_t modifiers, bool masked, const Numbers& q,
                   const std::vector<Numbers>& keys, const Numbers& w, Site<double> at) {
  ScoreRow row;
  for (const Numbers& k : keys) row.s.push_back(similarity(recipe, q, k, w));
  for (std::size_t m = 0; m < modifiers; ++m) {
    row.inputs.push_back(row.s);
    for (std::size_t j = 0; j < keys.size(); ++j) {
      at.k = static_cast<int>(j);
      row.s[j] = recipe.scores[m].forward(recipe.scores[m].data, row.s[j], at);
    }
  }
  if (masked) {
    for (std::size_t j = 0; j < keys.size(); ++j) {
      at.k = static_cast<int>(j);
      if (!keeps(recipe.masks, at)) row.s[j] = kMasked;
    }
  }
  return row;
}

struct WeightRow {
  double stat = 0.0;
  Numbers normalised;
  std::vector<Numbers> inputs;  ///< what each weight modifier saw
  Numbers w;                    ///< what pools the values
};

double row_stat(const Recipe& recipe, const Numbers& s, const Site<double>& at) {
  const AnyNormaliser& n = recipe.normaliser;
  if (!n.streams) return n.solve(n.data, s.data(), static_cast<int>(s.size()), at);
  double reference = n.runs_max ? kMasked : 0.0;
  if (n.runs_max)
    for (const double x : s) reference = std::fmax(reference, x);
  double mass = 0.0;
  for (const double x : s)
    if (x != kMasked) mass += n.mass(n.data, n.weight(n.data, x, reference));
  const Params<double> p{n.data.tables.data(), at.batch, at.head, at.q};
  return n.finish(n.data, reference, mass, p).stat;
}

WeightRow weight_row(const Recipe& recipe, const Numbers& s, Site<double> at) {
  const AnyNormaliser& n = recipe.normaliser;
  WeightRow row;
  row.stat = row_stat(recipe, s, at);
  row.normalised.resize(s.size());
  for (std::size_t j = 0; j < s.size(); ++j) {
    at.k = static_cast<int>(j);
    row.normalised[j] = s[j] == kMasked ? 0.0 : n.final_weight(n.data, s[j], row.stat, at);
  }
  row.w = row.normalised;
  for (const AnyWeight& f : recipe.weight_modifiers) {
    row.inputs.push_back(row.w);
    for (std::size_t j = 0; j < s.size(); ++j) {
      at.k = static_cast<int>(j);
      // A masked place keeps weight zero whatever a modifier makes of it.
      row.w[j] = s[j] == kMasked ? 0.0 : f.stage.forward(f.stage.data, row.w[j], at);
    }
  }
  return row;
}

template <class T>
std::vector<Numbers> read_all(const Rows<const T>& rows, int count, int channels) {
  std::vector<Numbers> result;
  result.reserve(static_cast<std::size_t>(count));
  for (int j = 0; j < count; ++j) result.push_back(read(rows.at(j), rows.channel, channels));
  return result;
}

/// Calls visit(site, q, keys, w) for every row of scores.
template <class T, class Visit>
void for_each_row(const Layout<T>& layout, const Recipe& recipe, const Visit& visit) {
  for (int b = 0; b < layout.sequences(); ++b) {
    for (int h = 0; h < layout.heads(); ++h) {
      const auto keys = read_all(layout.key_rows(layout.k, b, h / layout.group()),
                                 layout.keys(b), layout.channels());
      const auto q_rows = layout.query_rows(layout.q, b, h);
      const Numbers w = similarity_weights(recipe, h / layout.group());
      for (int i = 0; i < layout.queries(b); ++i)
        visit(Site<double>{b, h, i, 0}, read(q_rows.at(i), q_rows.channel, layout.channels()),
              keys, w);
    }
  }
}

/// A gradient that adds up in double and is written once.
template <class T>
class Sum {
 public:
  Sum(int rows, int channels)
      : rows_(rows),
        channels_(channels),
        data_(static_cast<std::size_t>(std::int64_t{rows} * channels)) {}
  double* at(int row) { return data_.data() + static_cast<std::ptrdiff_t>(row) * channels_; }
  void write(const Rows<T>& to) const {
    if (to.base == nullptr) return;
    for (int j = 0; j < rows_; ++j)
      for (int c = 0; c < channels_; ++c)
        to.at(j)[c * to.channel] =
            narrow<T>(data_[static_cast<std::size_t>(std::int64_t{j} * channels_ + c)]);
  }

 private:
  int rows_;
  int channels_;
  Numbers data_;
};

/// The gradient of one row's weights becomes that of its scores.
Numbers scores_grad(const Recipe& recipe, const RecipeGrads& grads, const ScoreRow& row,
                    const WeightRow& weights, Numbers dw, double d_stat, Site<double> at) {
  const AnyNormaliser& n = recipe.normaliser;
  for (std::size_t f = recipe.weight_modifiers.size(); f-- > 0;) {
    const AnyWeight& factor = recipe.weight_modifiers[f];
    const TableGrad* tables =
        f < grads.weight_modifiers.size() ? grads.weight_modifiers[f].data() : nullptr;
    for (std::size_t j = 0; j < dw.size(); ++j) {
      at.k = static_cast<int>(j);
      dw[j] = row.s[j] == kMasked ? 0.0
                                  : factor.stage.backward(factor.stage.data, tables, dw[j],
                                                          weights.inputs[f][j], at);
    }
  }
  Numbers slope(dw.size(), 0.0);
  double numerator = 0.0;
  double denominator = 0.0;
  for (std::size_t j = 0; j < dw.size(); ++j) {
    if (row.s[j] == kMasked) continue;
    at.k = static_cast<int>(j);
    slope[j] = n.final_slope(n.data, row.s[j], weights.normalised[j], weights.stat, at);
    const double share = n.coupling == Coupling::output ? weights.normalised[j] : slope[j];
    numerator += share * dw[j];
    denominator += share;
  }
  double delta = 0.0;
  if (n.coupling == Coupling::output) delta = numerator - d_stat;
  if (n.coupling == Coupling::support && denominator > 0.0) delta = numerator / denominator;
  if (n.backward_row != nullptr) {
    const Params<double> p{n.data.tables.data(), at.batch, at.head, at.q};
    n.backward_row(n.data, grads.normaliser.data(), weights.stat, delta, p);
  }
  for (std::size_t j = 0; j < dw.size(); ++j)
    dw[j] = row.s[j] == kMasked ? 0.0 : slope[j] * (dw[j] - delta);
  for (std::size_t m = recipe.scores.size(); m-- > 0;) {
    const AnyScore& stage = recipe.scores[m];
    const TableGrad* tables = m < grads.scores.size() ? grads.scores[m].data() : nullptr;
    for (std::size_t j = 0; j < dw.size(); ++j) {
      if (row.s[j] == kMasked) continue;
      at.k = static_cast<int>(j);
      dw[j] = stage.backward(stage.data, tables, dw[j], row.inputs[m][j], at);
    }
  }
  return dw;
}

}  // namespace

template <class T>
void forward(const ForwardArgs<T>& args, const Recipe& recipe) {
  validate(args, recipe);
  const Layout<T> layout(args);
  for_each_row(
      layout, recipe,
      [&](Site<double> at, const Numbers& q, const auto& keys, const Numbers& w) {
        const ScoreRow row = score_row(recipe, recipe.scores.size(), true, q, keys, w, at);
        const WeightRow weights = weight_row(recipe, row.s, at);

        Numbers out(static_cast<std::size_t>(layout.value_channels()), 0.0);
        const auto values = layout.key_rows(layout.v, at.batch, at.head / layout.group());
        for (std::size_t j = 0; j < keys.size(); ++j) {
          if (weights.w[j] == 0.0) continue;  // what is not looked at cannot be NaN either
          const T* v = values.at(static_cast<std::int64_t>(j));
          for (std::size_t c = 0; c < out.size(); ++c)
            out[c] += weights.w[j] * wide(v[static_cast<std::int64_t>(c) * values.channel]);
        }
        const auto to = layout.query_rows(args.out, at.batch, at.head);
        for (std::size_t c = 0; c < out.size(); ++c)
          to.at(at.q)[static_cast<std::int64_t>(c) * to.channel] = narrow<T>(out[c]);
        if (args.stat.data != nullptr)
          *layout.stat_rows(args.stat, at.batch, at.head).at(at.q) =
              static_cast<StatOf<T>>(weights.stat);
        if (args.similarities.data == nullptr) return;
        StatOf<T>* kept = layout.query_rows(args.similarities, at.batch, at.head).at(at.q);
        for (std::size_t j = 0; j < keys.size(); ++j)
          kept[j] = static_cast<StatOf<T>>(similarity(recipe, q, keys[j], w));
      });
}

/// Writes row_of(site, q, keys, w) for every row of scores.
template <class T, class RowOf>
void write_rows(const ForwardArgs<T>& args, const Recipe& recipe, const View<StatOf<T>, 4>& out,
                const RowOf& row_of) {
  validate(args, recipe);
  for_each_row(Layout<T>(args), recipe, [&](const Site<double>& at, const auto&... inputs) {
    const Numbers row = row_of(at, inputs...);
    for (std::size_t j = 0; j < row.size(); ++j)
      *out.at(at.batch, at.head, at.q, j) = static_cast<StatOf<T>>(row[j]);
  });
}

template <class T>
void scores(const ForwardArgs<T>& args, const Recipe& recipe, int modifiers, bool masked,
            const View<StatOf<T>, 4>& out) {
  write_rows(args, recipe, out, [&](const Site<double>& at, const auto&... inputs) {
    return score_row(recipe, static_cast<std::size_t>(modifiers), masked, inputs..., at).s;
  });
}

template <class T>
void weights(const ForwardArgs<T>& args, const Recipe& recipe, const View<StatOf<T>, 4>& out) {
  write_rows(args, recipe, out, [&](const Site<double>& at, const auto&... inputs) {
    const ScoreRow row = score_row(recipe, recipe.scores.size(), true, inputs..., at);
    return weight_row(recipe, row.s, at).w;
  });
}

template <class T>
void backward(const BackwardArgs<T>& args, const Recipe& recipe, const RecipeGrads& grads) {
  validate(args, recipe, grads);
  grads.clear();
  const Layout<T> layout(args);
  const int channels = layout.channels();
  const int value_channels = layout.value_channels();
  for (int b = 0; b < layout.sequences(); ++b) {
    for (int kv = 0; kv < layout.kv_heads(); ++kv) {
      const auto keys = read_all(layout.key_rows(layout.k, b, kv), layout.keys(b), channels);
      const auto values =
          read_all(layout.key_rows(layout.v, b, kv), layout.keys(b), value_channels);
      Sum<T> dk(layout.keys(b), channels);
      Sum<T> dv(layout.keys(b), value_channels);
      for (int h = kv * layout.group(); h < (kv + 1) * layout.group(); ++h) {
        const Numbers w = similarity_weights(recipe, h / layout.group());
        Numbers d_similarity(w.size(), 0.0);
        Sum<T> dq(layout.queries(b), channels);
        const auto q_rows = layout.query_rows(layout.q, b, h);
        const auto d_rows = layout.query_rows(args.d_out, b, h);
        for (int i = 0; i < layout.queries(b); ++i) {
          Site<double> at{b, h, i, 0};
          const Numbers q = read(q_rows.at(i), q_rows.channel, channels);
          const Numbers d_out = read(d_rows.at(i), d_rows.channel, value_channels);
          const ScoreRow row = score_row(recipe, recipe.scores.size(), true, q, keys, w, at);
          // The row is known from the scores themselves, so a rounded stat costs nothing here.
          const WeightRow weights = weight_row(recipe, row.s, at);

          Numbers dw(keys.size(), 0.0);
          for (std::size_t j = 0; j < keys.size(); ++j) {
            if (row.s[j] == kMasked) continue;
            for (std::size_t c = 0; c < d_out.size(); ++c) {
              dw[j] += d_out[c] * values[j][c];
              dv.at(static_cast<int>(j))[c] += weights.w[j] * d_out[c];
            }
            dw[j] += static_cast<double>(args.d_weights.at(b, h, i, static_cast<int>(j)));
          }
          const double d_stat =
              args.d_stat.data == nullptr
                  ? 0.0
                  : static_cast<double>(*layout.stat_rows(args.d_stat, b, h).at(i));
          const Numbers ds =
              scores_grad(recipe, grads, row, weights, std::move(dw), d_stat, at);
          for (std::size_t j = 0; j < keys.size(); ++j) {
            if (row.s[j] == kMasked) continue;
            similarity_backward(recipe, ds[j], q, keys[j], w, dq.at(i),
                                dk.at(static_cast<int>(j)), d_similarity.data());
          }
        }
        if (args.dq.data != nullptr) dq.write(layout.query_rows(args.dq, b, h));
        const ParamGrads<double> g{&grads.weights, 0, kv, 0};
        for (std::size_t c = 0; c < w.size(); ++c)
          g.at(0, static_cast<int>(c), d_similarity[c]);
      }
      if (args.dk.data != nullptr) dk.write(layout.key_rows(args.dk, b, kv));
      if (args.dv.data != nullptr) dv.write(layout.key_rows(args.dv, b, kv));
    }
  }
}

void inspect(const ForwardArgs<double>& inputs, const Recipe& recipe,
             const Inspection<double>& wanted) {
  const auto& [batch, heads, queries, channels] = inputs.q.shape;
  const std::int64_t keys = inputs.k.shape[2];
  // Forward's output plays no part; it has a shape that agrees.
  ForwardArgs<double> args = inputs;
  double nothing = 0.0;
  args.out = {&nothing, {batch, heads, queries, args.v.shape[3]}, {}};
  args.stat = {};
  std::vector<double> all(static_cast<std::size_t>(batch * heads * queries * keys));
  weights(args, recipe,
          {all.data(),
           {batch, heads, queries, keys},
           {heads * queries * keys, queries * keys, keys, 1}});
  RowReader<double>::clear_sums(wanted);
  RowReader<double> reader(wanted, keys);
  const double* row = all.data();
  for (int b = 0; b < batch; ++b)
    for (int h = 0; h < heads; ++h)
      for (int i = 0; i < queries; ++i, row += keys)
        reader.read({b, h, i, 0, 1, static_cast<int>(keys)}, 0, row);
}

// clang-format off
template void forward(const ForwardArgs<double>&, const Recipe&);
template void forward(const ForwardArgs<float>&, const Recipe&);
template void forward(const ForwardArgs<BFloat16>&, const Recipe&);
template void forward(const ForwardArgs<Float16>&, const Recipe&);
template void backward(const BackwardArgs<double>&, const Recipe&, const RecipeGrads&);
template void backward(const BackwardArgs<float>&, const Recipe&, const RecipeGrads&);
template void backward(const BackwardArgs<BFloat16>&, const Recipe&, const RecipeGrads&);
template void backward(const BackwardArgs<Float16>&, const Recipe&, const RecipeGrads&);
template void scores(const ForwardArgs<double>&, const Recipe&, int, bool, const View<double, 4>&);
template void scores(const ForwardArgs<float>&, const Recipe&, int, bool, const View<float, 4>&);
template void scores(const ForwardArgs<BFloat16>&, const Recipe&, int, bool, const View<float, 4>&);
template void scores(const ForwardArgs<Float16>&, const Recipe&, int, bool, const View<float, 4>&);
template void weights(const ForwardArgs<double>&, const Recipe&, const View<double, 4>&);
template void weights(const ForwardArgs<float>&, const Recipe&, const View<float, 4>&);
template void weights(const ForwardArgs<BFloat16>&, const Recipe&, const View<float, 4>&);
template void weights(const ForwardArgs<Float16>&, const Recipe&, const View<float, 4>&);
// clang-format on

}  // namespace attn::reference
