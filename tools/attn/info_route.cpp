// attn info --route: which kernels a call of attention takes, and why.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/macros.hpp"
#include "attn/core/site.hpp"
#include "attn/files/printable.hpp"
#include "attn/kernels/catalogue.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/recipe.hpp"
#include "attn/kernels/route.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

/// A call and the recipe that it points to.
struct Query {
  Recipe recipe;
  Call call;
  std::int64_t kv_heads = 0;
  std::int64_t value_channels = -1;
  bool has_sizes = false;
};

template <class F>
void add_score(Query& query) {
  query.recipe.scores.push_back(erase_score(F{}, {}));
}
template <class N>
void set_normaliser(Query& query) {
  query.recipe.normaliser = erase_normaliser(N{}, {});
}
template <Similarity kSimilarity>
void set_similarity(Query& query) {
  query.recipe.similarity = kSimilarity;
}
template <DType kType>
void set_dtype(Query& query) {
  query.call.dtype = kType;
}
template <bool Call::* kFlag>
void set_flag(Query& query) {
  query.call.*kFlag = true;
}
template <class M>
void add_mask(Query& query) {
  query.recipe.masks.push_back(MaskTree::of(erase_mask(M{})));
}
void add_causal(Query& query) {
  query.recipe.masks.push_back(MaskTree::of(erase_mask(mask::Causal(0))));
}
template <class F>
void add_weight(Query& query) {
  query.recipe.weight_modifiers.push_back(erase_weight(F{}, {}));
}

/// A functor of the user's own, of which recipes know nothing.
struct Own {
  template <class V>
  ATTN_FN V forward(V s, Site<V>) const {
    return s;
  }
};

struct Word {
  std::string_view name;
  void (*apply)(Query&);
};
constexpr std::array kWords{
    Word{"f32", &set_dtype<DType::f32>},
    Word{"bf16", &set_dtype<DType::bf16>},
    Word{"f16", &set_dtype<DType::f16>},
    Word{"f64", &set_dtype<DType::f64>},
    Word{"causal", &add_causal},
    Word{"lengths", &add_mask<mask::Lengths>},
    Word{"prefix", &add_mask<mask::Prefix>},
    Word{"documents", &add_mask<mask::Documents>},
    Word{"dense", &add_mask<mask::Dense>},
    Word{"softcap", &add_score<score::SoftCap>},
    Word{"alibi", &add_score<score::Alibi>},
    Word{"relative", &add_score<score::RelativeTable>},
    Word{"t5", &add_score<score::T5Bias>},
    Word{"gaussian", &add_score<score::Gaussian>},
    Word{"bias", &add_score<score::Bias>},
    Word{"functor", &add_score<Own>},
    Word{"dropout", &add_weight<normalise::Dropout>},
    Word{"additive", &set_similarity<Similarity::additive>},
    Word{"cosine", &set_similarity<Similarity::cosine>},
    Word{"distance", &set_similarity<Similarity::distance>},
    Word{"sink", &set_normaliser<normalise::SoftmaxSink>},
    Word{"sigmoid", &set_normaliser<normalise::Sigmoid>},
    Word{"mean", &set_normaliser<normalise::Mean>},
    Word{"identity", &set_normaliser<normalise::Identity>},
    Word{"sparsemax", &set_normaliser<normalise::Sparsemax>},
    Word{"hard", &set_normaliser<normalise::HardMax>},
    Word{"weights", &set_flag<&Call::weights>},
    Word{"train", &set_flag<&Call::taped>},
    Word{"paged", &set_flag<&Call::paged>},
    Word{"packed", &set_flag<&Call::packed>},
    Word{"linear", &set_flag<&Call::linear>},
    Word{"decays", &set_flag<&Call::channel_decay>},
};

[[noreturn]] void refuse(const std::string& word) {
  std::string accepted;
  for (const Word& known : kWords) accepted += fmt::format("{}, ", known.name);
  fail("attn info --route: there is no word ", files::in_quotes(word), "; accepted are ",
       accepted,
       "window=W, kv_heads=K, values=E, and sizes: batch x heads x queries x channels, as "
       "1x16x4096x128, or with keys before the channels, as 1x8x1x65536x128");
}

/// Whole numbers of 1 or more, with an x between them.
std::optional<std::vector<std::int64_t>> sizes_in(std::string_view word) {
  std::vector<std::int64_t> sizes;
  const char* at = word.data();
  const char* end = at + word.size();
  while (true) {
    std::int64_t size = 0;
    const auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 1) return std::nullopt;
    sizes.push_back(size);
    if (next == end) return sizes;
    if (*next != 'x') return std::nullopt;
    at = next + 1;
  }
}

/// The number of `name=number`, if the word is that.
std::optional<std::int64_t> value_of(std::string_view word, std::string_view name) {
  if (!word.starts_with(name) || word.size() <= name.size() || word[name.size()] != '=')
    return std::nullopt;
  const auto sizes = sizes_in(word.substr(name.size() + 1));
  return sizes && sizes->size() == 1 ? std::optional(sizes->front()) : std::nullopt;
}

void take_sizes(const std::vector<std::int64_t>& sizes, const std::string& word, Query& query) {
  if (sizes.size() != 4 && sizes.size() != 5) refuse(word);
  Call& call = query.call;
  call.batch = sizes[0];
  call.heads = sizes[1];
  call.queries = sizes[2];
  call.keys = sizes[sizes.size() == 4 ? 2 : 3];
  call.channels = call.value_channels = sizes.back();
  query.has_sizes = true;
}

void take_word(const std::string& word, Query& query) {
  for (const Word& known : kWords)
    if (known.name == word) return known.apply(query);
  if (const auto sizes = sizes_in(word)) return take_sizes(*sizes, word, query);
  if (const auto width = value_of(word, "window")) {
    query.recipe.masks.push_back(
        MaskTree::of(erase_mask(mask::SlidingWindow{static_cast<int>(*width) - 1, 0, 0})));
  } else if (const auto heads = value_of(word, "kv_heads")) {
    query.kv_heads = *heads;
  } else if (const auto channels = value_of(word, "values")) {
    query.value_channels = *channels;
  } else {
    refuse(word);
  }
}

}  // namespace

int info_route(const std::string& text, Device device, const Streams& streams) {
  Query query;
  std::istringstream words(text);
  for (std::string word; words >> word;) take_word(word, query);
  Call& call = query.call;
  if (!query.has_sizes) refuse("no sizes");
  call.on_gpu = device == Device::gpu;
  call.recipe = &query.recipe;
  call.kv_heads = query.kv_heads > 0 ? query.kv_heads : call.heads;
  if (query.value_channels > 0) call.value_channels = query.value_channels;
  if (call.heads % call.kv_heads != 0)
    fail("attn info --route: ", call.heads, " heads and kv_heads=", call.kv_heads,
         "; a divisor is accepted");
  const Route chosen = route(call);
  fmt::print(streams.out, "route {}\nwhy {}\nspeed {}\n", name_of(chosen), why(call),
             speed_of(chosen, call));
  if (const char* note = note_of(chosen, call)) fmt::print(streams.out, "note {}\n", note);
  return success;
}

}  // namespace attn::tools
