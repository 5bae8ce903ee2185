// The table of routes: what each implementation takes, and how fast it was.

#include "attn/kernels/route.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/gpu/limits.hpp"
#include "attn/kernels/recipe.hpp"
#include "kernels/common_recipes.hpp"

namespace attn {
namespace {

thread_local std::optional<Route> forced;
thread_local std::optional<Route> last;

/// Why a route does not take a call; without words it does. What is only slower can be forced.
struct Refusal {
  const char* reason = nullptr;
  bool only_slower = false;
};
constexpr Refusal kServes{};
Refusal cannot(const char* reason) {
  return {reason, false};
}
Refusal slower(const char* reason) {
  return {reason, true};
}

const Recipe& recipe_of(const Call& call) {
  static const Recipe kPlain;
  return call.recipe != nullptr ? *call.recipe : kPlain;
}

bool is_f64(const Call& call) {
  return call.dtype == DType::f64;
}
bool is_similarity(const Call& call, Similarity similarity) {
  return recipe_of(call).similarity == similarity;
}
bool has_softmax(const Call& call) {
  return catalogue::is<normalise::Softmax>(recipe_of(call).normaliser);
}
bool has_factors_alone(const Recipe& recipe) {
  return std::all_of(recipe.weight_modifiers.begin(), recipe.weight_modifiers.end(),
                     [](const AnyWeight& weight) { return weight.is_factor; });
}
bool has_own_mask(const MaskTree& tree) {
  if (tree.kind == MaskTree::Kind::leaf) return tree.leaf.kind < 0;
  return std::any_of(tree.children.begin(), tree.children.end(), has_own_mask);
}
/// Whether a functor is none of the catalogue's: recipes cannot take it to the GPU.
bool has_own_functor(const Recipe& recipe) {
  const auto own = [](const auto& stage) { return stage.kind < 0; };
  return std::any_of(recipe.scores.begin(), recipe.scores.end(), own) ||
         std::any_of(recipe.weight_modifiers.begin(), recipe.weight_modifiers.end(), own) ||
         std::any_of(recipe.masks.begin(), recipe.masks.end(), has_own_mask) ||
         own(recipe.normaliser);
}
/// Whether a functor's tiles go score by score.
bool has_lambda(const Recipe& recipe) {
  return std::any_of(recipe.scores.begin(), recipe.scores.end(),
                     [](const AnyScore& score) { return score.one_by_one; }) ||
         std::any_of(recipe.weight_modifiers.begin(), recipe.weight_modifiers.end(),
                     [](const AnyWeight& weight) { return weight.stage.one_by_one; });
}
/// What was measured on the CPU: f32, dot products or additive scores, softmax, no modifiers.
bool was_measured(const Call& call) {
  const Recipe& recipe = recipe_of(call);
  return call.dtype == DType::f32 && recipe.scores.empty() && recipe.weight_modifiers.empty() &&
         has_softmax(call) && !call.weights && !call.row_sums &&
         (is_similarity(call, Similarity::dot) || is_similarity(call, Similarity::additive));
}
constexpr const char* kOwnFunctor =
    "a functor of your own; give it to the templates of attn/kernels/gpu/functor/forward.cuh";

std::int64_t group_of(const Call& call) {
  return call.kv_heads > 0 ? call.heads / call.kv_heads : 1;
}
std::int64_t larger_head(const Call& call) {
  return std::max(call.channels, call.value_channels);
}

// Reading keys and values in place beats packing them for few rows of scores (heads of a group
// x queries), and for few queries of any number of heads: the packed path runs the heads one by
// one. One thread, AVX2, 128 channels, 2048 keys, ns for a key and row, in place : packed:
// 1 x 1 28 : 71, 1 x 8 10.2 : 13.2, 1 x 16 8.1 : 8.8, 8 x 1 10 : 28, 16 x 1 9.3 : 25.
constexpr int kDecodeRows = 16;
constexpr int kDecodeQueries = 4;
// With no more keys than these more than kDecodeQueries are packed: 16 queries and 16 keys of
// 64 channels took 2.4 us a head in place, 1.5 us packed (AVX2).
constexpr int kFewKeys = 32;

bool has_few_queries(std::int64_t group, std::int64_t queries, std::int64_t keys) {
  return queries <= kDecodeQueries || (group * queries <= kDecodeRows && keys > kFewKeys);
}

bool streams(const Recipe& recipe) {
  return recipe.normaliser.streams && has_factors_alone(recipe);
}

// The CPU's.

Refusal refuse_cpu_decode(const Call& call) {
  if (is_f64(call)) return cannot("f64 runs on the reference");
  if (call.backward) return cannot("it has no backward");
  if (!streams(recipe_of(call)))
    return cannot("the normaliser or a weight modifier needs whole rows");
  if (!has_few_queries(group_of(call), call.queries, call.keys))
    return slower("with so many queries packing the keys pays");
  return kServes;
}

Refusal refuse_cpu_additive(const Call& call) {
  if (is_f64(call)) return cannot("f64 runs on the reference");
  if (!is_similarity(call, Similarity::additive))
    return cannot("the similarity is not the additive one");
  return kServes;
}

Refusal refuse_cpu_packed(const Call& call) {
  if (is_f64(call)) return cannot("f64 runs on the reference");
  if (is_similarity(call, Similarity::additive)) return cannot("the similarity is additive");
  return kServes;
}

Refusal refuse_reference(const Call& call) {
  if (!is_f64(call)) return slower("it computes in double, for checks");
  return kServes;
}

// The GPU's.

/// What every fused kernel of dot products asks.
Refusal refuse_dot(const Call& call) {
  const Recipe& recipe = recipe_of(call);
  if (is_f64(call)) return cannot("f64");
  if (!is_similarity(call, Similarity::dot)) return cannot("the similarity is no dot product");
  if (has_own_functor(recipe)) return cannot(kOwnFunctor);
  if (call.packed) return cannot("packed sequences");
  if (larger_head(call) > gpu::kMaxChannels) return cannot("more than 256 channels");
  return kServes;
}

Refusal refuse_gpu_decode(const Call& call) {
  const Recipe& recipe = recipe_of(call);
  if (const Refusal refusal = refuse_dot(call); refusal.reason != nullptr) return refusal;
  if (call.backward || call.taped) return cannot("a backward follows");
  if (call.queries < 1 || call.queries > gpu::kMaxDecodeQueries)
    return cannot("none or more than 16 queries");
  if (call.keys < 1) return cannot("no keys");
  if (!has_softmax(call) && !catalogue::is<normalise::SoftmaxSink>(recipe.normaliser))
    return cannot("the normaliser is neither softmax nor softmax with a sink");
  if (!recipe.weight_modifiers.empty()) return cannot("weight modifiers");
  // Functors chosen at run time are asked row by row, each reading all keys.
  if (!call.paged && call.queries > kDecodeQueries && find(recipe, DecodeRecipes{}) < 0)
    return slower("more than 4 queries of a recipe without a decoding kernel of its own");
  return kServes;
}

Refusal refuse_gpu_matrix(const Call& call) {
  const Recipe& recipe = recipe_of(call);
  if (is_f64(call)) return cannot("f64");
  if (call.packed || call.paged) return cannot("packed or paged sequences");
  if (has_own_functor(recipe)) return cannot(kOwnFunctor);
  if (call.backward) return cannot("its backward is that of the ops it is made of");
  if (is_similarity(call, Similarity::cosine) || is_similarity(call, Similarity::distance))
    return cannot("the similarity is no product or sum");
  // Pooling takes a weight of 0 for one that does not count, which a score of 0 does.
  const bool scores_alone =
      catalogue::is<normalise::Identity>(recipe.normaliser) && !call.output && !call.arg_max;
  if (!has_softmax(call) && !scores_alone) return cannot("the normaliser is not softmax");
  if (std::any_of(recipe.weight_modifiers.begin(), recipe.weight_modifiers.end(),
                  [](const AnyWeight& weight) {
                    return !weight.is_factor || weight.stage.data.slots > 0;
                  }))
    return cannot("a weight modifier has tables or is no factor");
  if (call.log_sum_exp || call.row_sums)
    return cannot("log-sum-exp, sums by distance or the largest weights are wanted");
  const bool fused = is_similarity(call, Similarity::dot) ||
                     (is_similarity(call, Similarity::additive) && call.dtype == DType::f32);
  if (fused && !call.weights && !call.arg_max) return slower("the weights are not wanted");
  if (call.output && !call.arg_max && refuse_gpu_decode(call).reason == nullptr)
    return slower("few queries and no backward: gpu_decode gives their weights in one launch");
  return kServes;
}

Refusal refuse_gpu_additive(const Call& call) {
  const Recipe& recipe = recipe_of(call);
  if (!is_similarity(call, Similarity::additive))
    return cannot("the similarity is not the additive one");
  if (call.dtype != DType::f32) return cannot("it is built for f32");
  if (!has_softmax(call)) return cannot("the normaliser is not softmax");
  if (!recipe.weight_modifiers.empty()) return cannot("weight modifiers");
  if (has_own_functor(recipe)) return cannot(kOwnFunctor);
  if (call.packed || call.paged) return cannot("packed or paged sequences");
  if (larger_head(call) > gpu::kMaxAdditiveChannels) return cannot("more than 1024 channels");
  if (call.batch * call.heads > gpu::kMaxAdditiveHeads) return cannot("more than 65535 heads");
  if (!call.backward) return kServes;
  if (call.weight_grads) return cannot("gradients arrive at the weights");
  if (call.table_grads) return cannot("the modifiers' tables want gradients");
  const std::size_t bytes =
      gpu::additive_backward_shared(16, static_cast<int>(call.channels),
                                    static_cast<int>(call.value_channels)) +
      gpu::kStaticShared;
  if (static_cast<std::int64_t>(bytes) > call.shared_bytes)
    return cannot("its backward needs more shared memory than there is");
  return kServes;
}

Refusal refuse_gpu_general(const Call& call) {
  const Recipe& recipe = recipe_of(call);
  if (const Refusal refusal = refuse_dot(call); refusal.reason != nullptr) return refusal;
  if (call.paged) return cannot("pages");
  if (!recipe.normaliser.streams) return cannot("the normaliser needs whole rows");
  if (!has_factors_alone(recipe)) return cannot("a weight modifier is no factor");
  if (call.backward && call.weight_grads) return cannot("gradients arrive at the weights");
  return kServes;
}

int padded_head(const Call& call) {
  for (const int size : gpu::kHeadSizes)
    if (larger_head(call) <= size) return size;
  return 0;
}

Refusal refuse_gpu_tiles(const Call& call) {
  if (const Refusal refusal = refuse_gpu_general(call); refusal.reason != nullptr)
    return refusal;
  if (size_of(call.dtype) != 2) return cannot("the type has 32 bits");
  if (!gpu::has_common_recipes(2, padded_head(call)))
    return cannot("not 33 to 64 or 97 to 128 channels");
  if (find(recipe_of(call), CommonRecipes{}) < 0)
    return cannot("the recipe has no kernel of its own");
  return kServes;
}

Refusal refuse_gpu_hopper(const Call& call) {
  if (const Refusal refusal = refuse_gpu_tiles(call); refusal.reason != nullptr) return refusal;
  if (call.capability != 90)
    return cannot("the GPU is no Hopper, or the build has no code for it");
  if (call.dtype != DType::bf16 && !gpu::kHopperFloat16) return cannot("not bf16");
  if (!recipe_of(call).weight_modifiers.empty()) return cannot("weight modifiers");
  const bool at_64 = call.backward ? gpu::kHopperBackwardAt64 : gpu::kHopperForwardAt64;
  if (padded_head(call) == 64 && !at_64) return cannot("64 channels");
  if (!call.aligned) return cannot("rows that do not begin on 16 bytes, or empty ones");
  return kServes;
}

Refusal refuse_gpu_rows(const Call& call) {
  if (call.paged) return cannot("pages");
  if (has_own_functor(recipe_of(call))) return cannot(kOwnFunctor);
  return kServes;
}

// Those of linear attention.

/// EPYC, AVX-512, one thread: with 64 channels, where the state of a head stays in the
/// first-level cache, chunks took 1.3 times as long as steps; with 128 they were up to 1.4
/// times faster, with 256 up to 1.9; a decay for each channel needs 256. Few steps, as in
/// decoding, fill no chunk.
Refusal refuse_cpu_linear(const Call& call) {
  constexpr std::int64_t kFewSteps = 24;
  const std::int64_t wide = call.channel_decay ? 256 : 128;
  if (is_f64(call)) return cannot("f64");
  if (call.backward) return cannot("its backward runs in chunks");
  if (call.queries >= kFewSteps && call.channels >= wide)
    return slower("with so many steps and channels chunks are faster");
  return kServes;
}

Refusal refuse_gpu_linear(const Call& call) {
  if (call.backward || call.taped) return cannot("a backward follows");
  return kServes;
}

Refusal refuse_none(const Call&) {
  return kServes;
}

/// Speeds are those of docs/performance.md, for what was measured there; a call that differs
/// from it, in its type or its modifiers, may be slower.
struct Entry {
  Route route;
  bool on_gpu;
  const char* name;
  Refusal (*refuse)(const Call&);
  const char* because;
  const char* speed;
};
constexpr std::array<Entry, kRoutes> kEntries{{
    {Route::cpu_decode, false, "cpu_decode", &refuse_cpu_decode,
     "few queries: keys and values are read once, where they lie, and cut among the threads",
     "92 to 108 % of the speed at which memory is read (f32, one query, row C5)"},
    {Route::cpu_additive, false, "cpu_additive", &refuse_cpu_additive,
     "w . tanh(q + k) of tiles of queries and keys, fused with softmax and pooling",
     "12 to 24 times as fast as libtorch (f32, rows C7 and C8)"},
    {Route::cpu_packed, false, "cpu_packed", &refuse_cpu_packed,
     "keys and values of a head are packed once for its many queries, tiles stay in cache",
     "76 to 88 % of the peak of multiply-adds (f32 without modifiers, rows C1 and C2)"},
    {Route::reference, false, "reference", &refuse_reference,
     "f64 is for checks: plain loops, the definition", "not measured: it is there for checks"},
    {Route::gpu_matrix, true, "gpu_matrix", &refuse_gpu_matrix,
     "a matrix of scores lies in memory, computed by products of matrices",
     "not measured: products by cuBLASLt, but every score goes through memory"},
    {Route::gpu_decode, true, "gpu_decode", &refuse_gpu_decode,
     "few queries and no backward: keys are cut among the multiprocessors and merged",
     "3.6 to 4.1 TB/s on an H200, about 80 % of its memory's peak (bf16, row G5)"},
    {Route::gpu_additive, true, "gpu_additive", &refuse_gpu_additive,
     "w . tanh(q + k) fused with softmax and pooling",
     "2.6 to 4.8 times as fast as torch.compile on an H200 (forward, row G6)"},
    {Route::gpu_hopper, true, "gpu_hopper", &refuse_gpu_hopper,
     "the recipe has a kernel of its own for bf16 on Hopper",
     "233 to 617 TFLOP/s on an H200, up to 62 % of peak (rows G1 to G4)"},
    {Route::gpu_tiles, true, "gpu_tiles", &refuse_gpu_tiles,
     "the recipe has a kernel of its own for 16-bit types",
     "138 to 354 TFLOP/s on an H200, up to 36 % of peak (bf16, 128 channels)"},
    {Route::gpu_general, true, "gpu_general", &refuse_gpu_general,
     "dot products and a normaliser that streams: one kernel interprets the recipe score by "
     "score",
     "14 TFLOP/s on an H200: 44 times slower than the best route"},
    {Route::gpu_rows, true, "gpu_rows", &refuse_gpu_rows,
     "whole rows of scores in plain loops, which serve every recipe",
     "not measured: plain loops, many times slower than the fused kernels"},
    {Route::cpu_linear, false, "cpu_linear", &refuse_cpu_linear,
     "linear attention step by step: the state of a head stays in the cache",
     "1.2 to 1.6 times as fast as chunks (f32, 64 channels, docs/performance.md)"},
    {Route::cpu_chunks, false, "cpu_chunks", &refuse_none,
     "linear attention in chunks: products within one, the state from one to the next",
     "1.1 to 1.9 times as fast as step by step (f32, from 128 channels on)"},
    {Route::gpu_linear, true, "gpu_linear", &refuse_gpu_linear,
     "linear attention step by step in one kernel", "not measured"},
    {Route::gpu_chunks, true, "gpu_chunks", &refuse_none,
     "linear attention in chunks, made of ops that have a backward", "not measured"},
}};

const Entry& entry_of(Route route) {
  return kEntries[static_cast<std::size_t>(route)];
}

/// Whether the route is of the call's device, and of its kind of attention.
bool is_for(Route route, const Call& call) {
  return entry_of(route).on_gpu == call.on_gpu && (route >= Route::cpu_linear) == call.linear;
}

}  // namespace

std::string_view name_of(Route route) {
  return entry_of(route).name;
}

std::optional<Route> route_named(std::string_view name) {
  for (const Entry& entry : kEntries)
    if (name == entry.name) return entry.route;
  return std::nullopt;
}

bool serves(Route route, const Call& call) {
  const Refusal refusal = entry_of(route).refuse(call);
  return is_for(route, call) && (refusal.reason == nullptr || refusal.only_slower);
}

Route route(const Call& call, std::span<const Route> among) {
  const auto is_among = [&](Route candidate) {
    return among.empty() || std::find(among.begin(), among.end(), candidate) != among.end();
  };
  if (forced && is_for(*forced, call) && is_among(*forced)) {
    if (!serves(*forced, call))
      fail<Unsupported>("attn::route: ", name_of(*forced), " is forced and does not serve: ",
                        entry_of(*forced).refuse(call).reason);
    return *forced;
  }
  const char* reason = "no such device";
  for (const Entry& entry : kEntries) {
    if (!is_for(entry.route, call) || !is_among(entry.route)) continue;
    const Refusal refusal = entry.refuse(call);
    if (refusal.reason == nullptr) return entry.route;
    reason = refusal.reason;
  }
  fail<Unsupported>("attn::route: no kernel of the ", call.on_gpu ? "GPU" : "CPU",
                    " serves the call: ", reason);
}

std::string why(const Call& call) {
  const Route chosen = route(call);
  std::string text = entry_of(chosen).because;
  if (forced == chosen) return text + "; it is forced";
  for (const Entry& entry : kEntries) {
    if (!is_for(entry.route, call) || entry.route >= chosen) continue;
    text += std::string("; not ") + entry.name + ": " + entry.refuse(call).reason;
  }
  return text;
}

const char* speed_of(Route route, const Call& call) {
  if (route == Route::gpu_general && call.dtype == DType::f32)
    return "26 TFLOP/s forward and 9 backward on an H200: 24 times slower than bf16 on the "
           "best "
           "route";
  if (!call.on_gpu && !call.linear && route != Route::reference && !was_measured(call))
    return "not measured for this recipe; f32 without modifiers reaches 76 to 88 % of the peak "
           "(rows C1 and C2)";
  return entry_of(route).speed;
}

const char* note_of(Route route, const Call& call) {
  if (route == Route::reference)
    return "f64 runs on the reference, which is for checks; f32, bf16 and f16 run on the "
           "kernels";
  if (route == Route::gpu_general && call.dtype == DType::f32)
    return "f32 runs some 24 times slower than bf16 on the GPU's best kernels";
  if (route == Route::gpu_general)
    return "this recipe or head size has no kernel of its own on the GPU and runs some 44 "
           "times "
           "slower; attn info --route tells what it lacks";
  if (route == Route::gpu_rows)
    return "the GPU runs this call in plain loops over whole rows, many times slower than its "
           "fused kernels; attn info --route tells what it lacks";
  if (!call.on_gpu && has_lambda(recipe_of(call)))
    return "a lambda runs score by score with the flags of its own file, many times slower "
           "without -O2; a struct given to attn_kernel_sources runs in vectors";
  return nullptr;
}

ForceRoute::ForceRoute(Route route) : before_(forced) {
  forced = route;
}
ForceRoute::~ForceRoute() {
  forced = before_;
}

std::optional<Route> last_route() {
  return last;
}
void note_route(Route route) {
  last = route;
}

bool decodes_on_cpu(std::int64_t group, std::int64_t queries, std::int64_t keys, bool streams) {
  if (forced && is_for(*forced, {})) return forced == Route::cpu_decode && streams;
  return streams && has_few_queries(group, queries, keys);
}

bool keeps_similarities(const Call& call) {
  if (call.on_gpu || !call.taped || is_f64(call) || forced == Route::reference) return false;
  // As long as they are not more than a few times the queries and keys themselves.
  if (is_similarity(call, Similarity::additive))
    return call.queries * call.keys <= 4 * (call.queries + call.keys) * call.channels;
  return is_similarity(call, Similarity::dot) && call.queries <= 64 && call.keys <= 64;
}

}  // namespace attn
