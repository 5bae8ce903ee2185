#include <cstddef>
#include <type_traits>

#include "attn/core/error.hpp"
#include "attn/kernels/catalogue.hpp"
#include "kernels/gpu/general/lower.cuh"
#include "kernels/gpu/rows/row_stages.cuh"

namespace attn::gpu {
namespace {

/// Gives a stage's tables the next free slots.
template <int kSlots, class Link, class Tables, class Grads>
void place_tables(const char* where, const StageData& data, const TableGrad* wanted, Link& link,
                  int& used, Tables& tables, Grads& grads) {
  if (used + data.slots > kSlots)
    fail<Unsupported>(where, ": the modifiers read more than ", kSlots,
                      " tables, which is what the GPU's general kernel takes");
  link.slot = used;
  link.slots = data.slots;
  using AnyTable = std::remove_cvref_t<decltype(tables.data[0])>;
  using AnyGrad = std::remove_cvref_t<decltype(grads.data[0])>;
  for (int slot = 0; slot < data.slots; ++slot, ++used) {
    tables.data[used] = AnyTable(data.tables[static_cast<std::size_t>(slot)]);
    if (wanted != nullptr) grads.data[used] = AnyGrad(wanted[slot]);
  }
}

template <class To>
void lower_scores(const char* where, const Recipe& recipe, const RecipeGrads& grads, To& to) {
  GeneralScore& score = to.stages.score;
  int used = 0;
  for (std::size_t i = 0; i < recipe.scores.size(); ++i) {
    AnyDeviceScore link;
    if (!link.take(recipe.scores[i].kind, recipe.scores[i].data, catalogue::Scores{}))
      fail<Unsupported>(where, ": score modifier ", i,
                        " is none of the library's; give your own functor to the template in "
                        "attn/kernels/gpu/functor/forward.cuh");
    // Constant scales before anything else are one factor.
    if (link.holds<score::Scale>() && score.count == 0) {
      to.stages.scale *= link.get<score::Scale>().factor;
      continue;
    }
    if (score.count == GeneralScore::kMax)
      fail<Unsupported>(where, ": ", recipe.scores.size(), " score modifiers; the GPU takes ",
                        GeneralScore::kMax);
    place_tables<GeneralScore::kTables>(
        where, recipe.scores[i].data,
        i < grads.scores.size() ? grads.scores[i].data() : nullptr, link, used,
        to.stages.score_tables, to.grads.score);
    score.links[score.count++] = link;
  }
}

void lower_mask(const char* where, const MaskTree& tree, GeneralMask& to) {
  GeneralMask::Node node;
  node.kind = tree.kind;
  if (tree.kind == MaskTree::Kind::leaf) {
    if (!node.leaf.take(tree.leaf.kind, tree.leaf.data, catalogue::Masks{}))
      fail<Unsupported>(where,
                        ": a mask is none of the library's; give your own functor to the "
                        "template in attn/kernels/gpu/functor/forward.cuh");
  } else {
    for (const MaskTree& child : tree.children) lower_mask(where, child, to);
    node.arity = static_cast<int>(tree.children.size());
  }
  if (to.count == GeneralMask::kMax)
    fail<Unsupported>(where, ": a mask of more than ", GeneralMask::kMax,
                      " parts, which is what the GPU's general kernel takes");
  to.nodes[to.count++] = node;
}

/// A leaf that keeps everything says nothing, unless an operation counts it.
void lower_top_mask(const char* where, const MaskTree& tree, GeneralMask& to) {
  if (tree.kind == MaskTree::Kind::leaf && catalogue::is<mask::None>(tree.leaf)) return;
  lower_mask(where, tree, to);
}

/// All of a list of masks must keep a pair.
void lower_masks(const char* where, const Recipe& recipe, GeneralMask& to) {
  for (const MaskTree& tree : recipe.masks) {
    if (tree.kind == MaskTree::Kind::all_of) {
      for (const MaskTree& child : tree.children) lower_top_mask(where, child, to);
    } else {
      lower_top_mask(where, tree, to);
    }
  }
}

/// Modifiers of weights, for a list of at most `most` links.
template <int kTables, class From, class Link, class Factor, class Tables, class Grads>
void lower_factors(const char* where, const char* known, const Recipe& recipe,
                   const RecipeGrads& grads, Factor& to, Tables& tables, Grads& table_grads) {
  int used = 0;
  if (recipe.weight_modifiers.size() > Factor::kMax)
    fail<Unsupported>(where, ": ", recipe.weight_modifiers.size(),
                      " weight modifiers; the GPU takes ", Factor::kMax);
  for (std::size_t i = 0; i < recipe.weight_modifiers.size(); ++i) {
    Link link;
    if (!link.take(recipe.weight_modifiers[i].kind, recipe.weight_modifiers[i].stage.data,
                   From{}))
      fail<Unsupported>(where, ": weight modifier ", i, known);
    place_tables<kTables>(
        where, recipe.weight_modifiers[i].stage.data,
        i < grads.weight_modifiers.size() ? grads.weight_modifiers[i].data() : nullptr, link,
        used, tables, table_grads);
    to.links[to.count++] = link;
  }
}

}  // namespace

Recipe checkable(const Recipe& recipe) {
  Recipe result = recipe;
  for (AnyScore& score : result.scores)
    if (score.reads_memory) score.reach = nullptr;
  return result;
}

Lowered lower(const char* where, const Recipe& recipe, const RecipeGrads& grads) {
  if (recipe.similarity != Similarity::dot)
    fail<Unsupported>(where,
                      ": this kernel of the GPU computes dot products; the recipe asks "
                      "for another similarity");
  Lowered to;
  to.stages.scale = recipe.scale;
  lower_scores(where, recipe, grads, to);
  lower_masks(where, recipe, to.stages.mask);
  int used = 0;
  if (!to.stages.normaliser.chosen.take(recipe.normaliser.kind, recipe.normaliser.data,
                                        catalogue::Normalisers{}))
    fail<Unsupported>(where,
                      ": the normaliser is none that streams on the GPU (softmax, softmax with "
                      "sink, identity, mean, sigmoid, summed sigmoid)");
  place_tables<GeneralNormaliser::kTables>(
      where, recipe.normaliser.data, grads.normaliser.data(), to.stages.normaliser.chosen, used,
      to.stages.normaliser_tables, to.grads.normaliser);
  lower_factors<GeneralFactor::kTables, catalogue::Weights, AnyDeviceFactor>(
      where, " is no factor of the library's (dropout, local Gaussian, scale)", recipe, grads,
      to.stages.factor, to.stages.factor_tables, to.grads.factor);
  return to;
}

LoweredRows lower_rows(const char* where, const Recipe& recipe, const RecipeGrads& grads) {
  LoweredRows to;
  to.stages.similarity = recipe.similarity;
  to.stages.weights = recipe.weights;
  to.grads.weights = grads.weights;
  // The others have no scale of their own.
  if (recipe.similarity == Similarity::dot || recipe.similarity == Similarity::cosine)
    to.stages.scale = recipe.scale;
  lower_scores(where, recipe, grads, to);
  lower_masks(where, recipe, to.stages.mask);
  int used = 0;
  if (!to.stages.normaliser.take(recipe.normaliser.kind, recipe.normaliser.data,
                                 catalogue::Normalisers{}))
    fail<Unsupported>(where, ": the normaliser is none of the library's");
  to.stages.coupling = recipe.normaliser.coupling;
  place_tables<1>(where, recipe.normaliser.data, grads.normaliser.data(), to.stages.normaliser,
                  used, to.stages.normaliser_tables, to.grads.normaliser);
  lower_factors<RowWeights::kTables, WeightStages, AnyRowWeight>(
      where, " is none of the library's (dropout, local Gaussian, scale, a program)", recipe,
      grads, to.stages.factor, to.stages.factor_tables, to.grads.factor);
  return to;
}

}  // namespace attn::gpu
