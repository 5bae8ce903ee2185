#include "tools/attn/mechanism_search.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/nn/registry.hpp"
#include "tools/attn/command.hpp"

namespace attn::tools {
namespace {

/// The words of a text in small letters; a name is one word for each part between underscores.
std::set<std::string> words_in(const std::string& text) {
  std::set<std::string> words;
  std::string word;
  for (const char letter : text + " ") {
    const auto byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 || byte >= 0x80) {
      word += static_cast<char>(std::tolower(byte));
    } else if (!word.empty()) {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

/// Words by which a mechanism is known beside those of its own texts.
std::string also_known_as(const std::string& name) {
  if (name == "multi_head_attention") return "self cross multihead mha";
  if (name == "rotary") return "rope";
  if (name == "masked_softmax") return "padding";
  if (name == "kv_cache_equivalence") return "kv cache incremental decoding";
  if (name == "merge_states") return "flash ring split";
  if (name == "pointer_generator") return "copy coverage";
  if (name == "score_additive" || name == "additive_attention") return "bahdanau";
  return "";
}

std::set<std::string> words_of(const nn::Mechanism& mechanism) {
  return words_in(mechanism.name + " " + mechanism.title + " " + mechanism.family + " " +
                  mechanism.paper + " " + also_known_as(mechanism.name));
}

std::set<std::string> words_of(const LibraryPart& part) {
  return words_in(part.words + " " + part.title);
}

bool has_all(const std::set<std::string>& words, const std::set<std::string>& wanted) {
  return std::includes(words.begin(), words.end(), wanted.begin(), wanted.end());
}

}  // namespace

const std::vector<LibraryPart>& library_parts() {
  static const std::vector<LibraryPart> kParts{
      {"sliding window longformer bigbird mistral banded local",
       "Sliding window: each query sees its neighbours", "spec::window(before, after)",
       "attn/tensor/spec/mask.hpp"},
      {"causal autoregressive gpt masked mask", "Causal mask: no query sees what comes later",
       "spec::causal()", "attn/tensor/spec/mask.hpp"},
      {"prefix prefixlm mask", "Prefix mask: the first keys are seen by all, the rest causally",
       "spec::prefix(length)", "attn/tensor/spec/mask.hpp"},
      {"block sparse bigbird mask", "Block-sparse mask: a flag for each block of pairs",
       "spec::block_sparse(blocks, query_block, key_block)", "attn/tensor/spec/mask.hpp"},
      {"dilated strided longformer sparse mask", "Dilated mask: every so many-th key",
       "spec::dilated(step, reach)", "attn/tensor/spec/mask.hpp"},
      {"documents packing packed varlen mask", "Document mask: packed sequences do not mix",
       "spec::documents(queries, keys)", "attn/tensor/spec/mask.hpp"},
      {"padding lengths mask", "Lengths: keys past the end of a sequence do not exist",
       "spec::lengths(lengths)", "attn/tensor/spec/mask.hpp"},
      {"linear performer kernel feature recurrent rwkv retention retnet gated delta deltanet",
       "Linear attention: a state of fixed size, in time linear in the steps",
       "cpu::linear(LinearArgs<float>{...})", "attn/kernels/linear.hpp"},
      {"flash flashattention fused memory efficient tiled io",
       "Every attention here is fused and tiled: no score matrix is written",
       "attend(q, k, v, spec::scaled_dot())", "attn/tensor/attend.hpp"},
      {"grouped query multi gqa mqa heads",
       "Grouped heads: several heads of queries share one of keys and values",
       "attend(q, k, v, ...) with fewer heads in k and v", "attn/tensor/attend.hpp"},
      {"paged pages vllm kv cache", "Paged keys and values, and writing into a cache in place",
       "write_cache(args)", "attn/kernels/cache.hpp"},
      {"softmax normaliser", "Softmax, the usual normaliser", "spec::softmax()",
       "attn/tensor/spec/normaliser.hpp"},
      {"sink registers streaming streamingllm gpt oss softmax off by one",
       "Softmax with a sink: a learnt score that takes weight from all keys",
       "spec::softmax_with_sink(sink)", "attn/tensor/spec/normaliser.hpp"},
      {"sparsemax sparse entmax", "Sparsemax: weights that are exactly zero",
       "spec::sparsemax()", "attn/tensor/spec/normaliser.hpp"},
      {"sigmoid", "Sigmoid attention: each weight by itself", "spec::sigmoid()",
       "attn/tensor/spec/normaliser.hpp"},
      {"soft cap softcap gemma tanh", "Soft cap: scores stay between -cap and cap",
       "spec::scaled_dot() | spec::soft_cap(cap)", "attn/tensor/spec/score.hpp"},
      {"gaussian local", "Gaussian: scores fall with the distance from a centre",
       "spec::gaussian(centre, sigma)", "attn/tensor/spec/score.hpp"},
      {"bias graphormer swin alphafold", "Bias: a table that is added to the scores",
       "spec::bias(table)", "attn/tensor/spec/score.hpp"},
      {"dropout", "Dropout of weights", "spec::dropout(probability, key)",
       "attn/tensor/spec/normaliser.hpp"}};
  return kParts;
}

Related related_to(const std::string& query) {
  Related related;
  const std::set<std::string> wanted = words_in(query);
  if (wanted.empty()) return related;
  for (const nn::Mechanism* mechanism : nn::mechanisms())
    if (has_all(words_of(*mechanism), wanted)) related.mechanisms.push_back(mechanism);
  for (const LibraryPart& part : library_parts())
    if (has_all(words_of(part), wanted)) related.parts.push_back(&part);
  return related;
}

std::string meant_by(const std::string& query) {
  // A slip of the fingers changes a quarter of a word at most.
  constexpr double kSlip = 0.25;
  std::vector<std::string> names;
  std::set<std::string> words;
  for (const nn::Mechanism* mechanism : nn::mechanisms()) {
    names.push_back(mechanism->name);
    words.merge(words_of(*mechanism));
  }
  for (const LibraryPart& part : library_parts()) words.merge(words_of(part));
  if (const auto name = nearest(query, names, kSlip)) return *name;
  constexpr std::size_t kShortest = 4;  // fewer letters begin too many words
  if (query.size() >= kShortest)
    if (const auto word = nearest(query, {words.begin(), words.end()}, kSlip)) return *word;
  return nearest(query, names).value_or("");
}

const nn::Mechanism& mechanism_named(const std::string& name) {
  if (const nn::Mechanism* mechanism = nn::find_mechanism(name)) return *mechanism;
  std::string related;
  for (const nn::Mechanism* one : related_to(name).mechanisms)
    related += (related.empty() ? "; related: " : ", ") + one->name;
  const std::string meant = related.empty() ? meant_by(name) : "";
  fail("there is no mechanism '", name, "'",
       !related.empty() ? related
       : !meant.empty() ? "; did you mean '" + meant + "'?"
                        : "; 'attn mechanisms' lists them");
}

}  // namespace attn::tools
