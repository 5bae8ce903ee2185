#include "tensor/attend/recipe.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/table.hpp"
#include "attn/kernels/args.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/tensor/spec/mask.hpp"
#include "attn/tensor/spec/normaliser.hpp"
#include "attn/tensor/spec/score.hpp"
#include "attn/tensor/spec/stage.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn::op {
namespace {

using Owner = TablePlace::Owner;

/// Shape and strides of a tensor with four axes; shared axes have stride 0.
template <class AnyTable>
void lay_out(const Tensor& x, AnyTable& table) {
  for (int axis = 0; axis < 4; ++axis) {
    const auto at = static_cast<std::size_t>(axis);
    table.shape[at] = x.size(axis);
    table.strides[at] = x.size(axis) == 1 ? 0 : x.strides()[axis];
  }
  table.dtype = x.dtype();
}

/// w of a similarity as [1, 1 or kv heads, 1, entries].
Tensor similarity_table(const Tensor& weights, const spec::Problem& problem, bool one_allowed) {
  const bool fits = weights.rank() == 1 || weights.rank() == 2;
  const std::int64_t entries = fits ? weights.size(-1) : 0;
  const std::int64_t heads = weights.rank() == 2 ? weights.size(0) : 1;
  if (!fits || (entries != problem.channels && !(one_allowed && entries == 1)) ||
      (heads != 1 && heads != problem.kv_heads))
    fail("attn::attend: the similarity's weights are ", weights.text(), "; [",
         one_allowed ? "1 or " : "", problem.channels, "], with ", problem.kv_heads,
         " kv heads before if each has its own, is accepted");
  if (weights.device() != problem.device)
    fail("attn::attend: the similarity's weights ", weights.text(), " are on ",
         name_of(weights.device()), " and q on ", name_of(problem.device),
         "; one device is accepted");
  const Tensor rows = weights.rank() == 2 ? weights : weights.unsqueeze(0);
  return rows.unsqueeze(1).unsqueeze(0).to(problem.dtype);
}

}  // namespace

BoundRecipe::BoundRecipe(const spec::Score& score, const spec::Mask& keep,
                         const spec::Normaliser& normaliser, const spec::Problem& problem,
                         std::vector<Tensor>& tables) {
  bind_similarity(score, problem, tables);
  for (const spec::ScoreModifier& modifier : score.modifiers) {
    const auto lowered = modifier.lower(problem);
    recipe_.scores.push_back(lowered.stage);
    bind(lowered, recipe_.scores.back().data, {Owner::score, recipe_.scores.size() - 1},
         tables);
  }
  if (!keep.keeps_all()) {
    auto lowered = keep.lower(problem);
    hold(lowered);
    if (lowered.stage.kind == MaskTree::Kind::all_of) {
      recipe_.masks = std::move(lowered.stage.children);
    } else {
      recipe_.masks.push_back(std::move(lowered.stage));
    }
  }
  const auto lowered = normaliser.normaliser.lower(problem);
  recipe_.normaliser = lowered.stage;
  bind(lowered, recipe_.normaliser.data, {Owner::normaliser}, tables);
  for (const spec::WeightModifier& modifier : normaliser.modifiers) {
    const auto factor = modifier.lower(problem);
    recipe_.weight_modifiers.push_back(factor.stage);
    bind(factor, recipe_.weight_modifiers.back().stage.data,
         {Owner::factor, recipe_.weight_modifiers.size() - 1}, tables);
  }
}

void BoundRecipe::bind_similarity(const spec::Score& score, const spec::Problem& problem,
                                  std::vector<Tensor>& tables) {
  recipe_.similarity = score.similarity;
  const double channels = problem.channels > 0 ? static_cast<double>(problem.channels) : 1.0;
  recipe_.scale = static_cast<float>(score.scale.value_or(1.0 / std::sqrt(channels)));
  if (!score.weights.defined()) return;
  const bool one_allowed = score.similarity == Similarity::distance;
  recipe_.weights =
      add(similarity_table(score.weights, problem, one_allowed), {Owner::similarity}, tables);
}

template <class Any>
void BoundRecipe::bind(const spec::Lowered<Any>& lowered, StageData& data, TablePlace place,
                       std::vector<Tensor>& tables) {
  hold(lowered);
  if (lowered.tables.size() > kMaxTables)
    fail("attn::attend: a functor with ", lowered.tables.size(), " tables; at most ",
         kMaxTables, " are accepted");
  for (const Tensor& table : lowered.tables) {
    data.tables[place.slot] = add(table, place, tables);
    ++place.slot;
  }
  data.slots = static_cast<int>(place.slot);
}

Table BoundRecipe::add(const Tensor& table, const TablePlace& place,
                       std::vector<Tensor>& tables) {
  places_.push_back(place);
  tables_.emplace_back(table);
  tables.push_back(table);
  Table result;
  lay_out(table, result);
  result.data = address(table);
  return result;
}

template <class Any>
void BoundRecipe::hold(const spec::Lowered<Any>& lowered) {
  for (const Tensor& x : lowered.reads) reads_.emplace_back(x);
  if (lowered.owns) owns_.push_back(lowered.owns);
}

const Recipe& BoundRecipe::recipe() const {
  for (const Saved& table : tables_) table.get();
  for (const Saved& read : reads_) read.get();
  return recipe_;
}

RecipeGrads BoundRecipe::grads_into(const std::vector<Tensor>& grads) const {
  RecipeGrads result;
  result.scores.resize(recipe_.scores.size());
  result.weight_modifiers.resize(recipe_.weight_modifiers.size());
  for (std::size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) continue;
    TableGrad grad;
    lay_out(grads[i], grad);
    grads[i].impl().storage->wrote();
    grad.data = address(grads[i]);
    const TablePlace& place = places_[i];
    switch (place.owner) {
      case Owner::similarity:
        result.weights = grad;
        break;
      case Owner::score:
        result.scores[place.stage][place.slot] = grad;
        break;
      case Owner::normaliser:
        result.normaliser[place.slot] = grad;
        break;
      case Owner::factor:
        result.weight_modifiers[place.stage][place.slot] = grad;
        break;
    }
  }
  return result;
}

}  // namespace attn::op
