/// The stages of a recipe for whole rows: every functor of the library, chosen at run time, for
/// float and double.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/params.hpp"
#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/stage.hpp"
#include "kernels/gpu/general/general.cuh"

namespace attn::gpu {

template <class... Fs>
constexpr catalogue::List<typename WeightStageOf<Fs>::type...> weight_stages(
    catalogue::List<Fs...>) {
  return {};
}
using WeightStages = decltype(weight_stages(catalogue::Weights{}));

using AnyRowNormaliser = OneOf<catalogue::Normalisers>;
using AnyRowWeight = OneOf<WeightStages>;

/// Modifiers of weights, one after the other.
struct RowWeights {
  static constexpr int kTables = 8;
  static constexpr int kMax = 3;

  AnyRowWeight links[kMax] = {};
  int count = 0;
};

/// Everything behind the similarity, and the similarity's own choice. Tables are those of the
/// recipe, whose data lie in the GPU's memory.
struct RowStages {
  template <int kCount>
  struct Tables {
    Table data[kCount];
  };

  Similarity similarity = Similarity::dot;
  Table weights;       ///< of the similarity; without data it has none
  double scale = 1.0;  ///< of every similarity
  GeneralScore score{};
  GeneralMask mask{};
  AnyRowNormaliser normaliser{};
  Coupling coupling = Coupling::none;
  RowWeights factor{};
  Tables<GeneralScore::kTables> score_tables{};
  Tables<1> normaliser_tables{};
  Tables<RowWeights::kTables> factor_tables{};
};

/// Where the gradients of the tables go.
struct RowStagesGrads {
  template <int kCount>
  struct Tables {
    TableGrad data[kCount];
  };
  TableGrad weights;
  Tables<GeneralScore::kTables> score{};
  Tables<1> normaliser{};
  Tables<RowWeights::kTables> factor{};
};

struct LoweredRows {
  RowStages stages;
  RowStagesGrads grads;
};

/// Throws Unsupported for a functor that is not the library's, naming its place.
LoweredRows lower_rows(const char* where, const Recipe& recipe, const RecipeGrads& grads = {});

/// Gradients of tables, each added where it belongs, by many threads at once.
template <class V>
struct AtomicGrads {
  const TableGrad* tables = nullptr;
  int batch = 0;
  int head = 0;
  int q = 0;

  __device__ bool wants(int slot) const { return tables[slot].data != nullptr; }
  __device__ void value(int slot, V grad) const { at(slot, 0, grad); }
  __device__ void at(int slot, int index, V grad) const {
    if (!wants(slot)) return;
    const TableGrad& t = tables[slot];
    const std::int64_t place = row_offset(t, batch, head, q) + index * t.strides[3];
    if (t.dtype == DType::f64) {
      atomicAdd(static_cast<double*>(t.data) + place, static_cast<double>(grad));
    } else {
      atomicAdd(static_cast<float*>(t.data) + place, static_cast<float>(grad));
    }
  }
  template <class S>
  __device__ void along(int slot, const S& site, V grad) const {
    at(slot, site.k, grad);
  }
};

template <class V>
__device__ Params<V> params(const Table* tables, const Site<V>& at) {
  return {tables, at.batch, at.head, at.q};
}

/// The weight of a score that is not masked, before its modifiers.
template <class V>
__device__ V normalised(const RowStages& stages, V s, V stat, const Site<V>& at) {
  V result{};
  stages.normaliser.visit([&](const auto& n) { result = n.final_weight(s, stat, at); });
  return result;
}

/// The weight after its first `count` modifiers.
template <class V>
__device__ V modified(const RowStages& stages, V w, int count, const Site<V>& at) {
  const Params<V> p = params(stages.factor_tables.data, at);
  for (int i = 0; i < count; ++i) {
    const AnyRowWeight& link = stages.factor.links[i];
    link.visit([&](const auto& f) {
      w = call_forward(f, w, at, score::ShiftedSlots<Params<V>>{p, link.slot});
    });
  }
  return w;
}

}  // namespace attn::gpu
