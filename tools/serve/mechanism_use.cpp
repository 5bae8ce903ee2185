#include "tools/serve/mechanism_use.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace attn::serve {
namespace {

/// Sorted by name. Where a model is made of the blocks that a mechanism is an arrangement of,
/// the symbol is the block's.
constexpr MechanismUse kUses[] = {
    {"additive_attention", "attn translate --model translate-zh-en-bahdanau, attn chat",
     "src/models/bahdanau.cpp", "nn::AdditiveScore"},
    {"alibi", "attn lesson order", "tools/attn/lessons/order.cpp", "nn::alibi_attention"},
    {"attention_over_attention", "attn cloze", "src/tasks/cloze/reader.cpp",
     "nn::attention_over_attention"},
    {"average_pooling", "attn compare classify, attn lesson equal-weights",
     "src/tasks/classify/network.cpp", "nn::average_pooling"},
    {"bahdanau_decoder", "attn translate --model translate-zh-en-bahdanau",
     "src/models/bahdanau.cpp", "bahdanau_decode"},
    {"bahdanau_greedy", "", "", "",
     "models search by models::Search, of which greedy is a beam of 1"},
    {"bahdanau_rnnsearch", "attn translate --model translate-zh-en-bahdanau",
     "src/models/bahdanau.cpp", "class BahdanauModel"},
    {"biaffine_attention", "attn parse", "src/tasks/parse/layers.cpp", "nn::BiaffineAttention"},
    {"box_attention", "attn compare answer", "src/tasks/answer/lookers.cpp",
     "nn::BoxAttention"},
    {"cmla", "", "", "", "no task finds aspects and opinions in reviews"},
    {"co_attention_alternating", "attn compare answer", "src/tasks/answer/lookers.cpp",
     "nn::AlternatingCoAttention"},
    {"co_attention_parallel", "attn answer", "src/tasks/answer/lookers.cpp",
     "nn::ParallelCoAttention"},
    {"dot_product_attention", "attn lesson scores", "tools/attn/lessons/scores.cpp",
     "spec::scaled_dot"},
    {"doubly_stochastic", "attn caption", "src/models/captioner.cpp",
     "nn::DoublyStochasticAttention"},
    {"entailment_word_by_word", "attn entail --model entail-word-by-word",
     "src/tasks/entail/matchers.cpp", "nn::WordByWordAttention"},
    {"forced_attention", "attn lesson addressing", "tools/attn/lessons/addressing.cpp",
     "nn::forced_attention"},
    {"glimpse", "attn look", "src/tasks/look/glimpse_reader.cpp", "nn::glimpse"},
    {"glimpse_network", "attn look", "src/tasks/look/glimpse_reader.cpp", "nn::GlimpseNetwork"},
    {"glimpse_policy", "attn look", "src/tasks/look/glimpse_reader.cpp", "nn::GlimpsePolicy"},
    {"hard_attention", "attn caption --attention hard", "src/models/captioner.cpp",
     "nn::reinforce"},
    {"hierarchical_answer", "attn answer", "src/tasks/answer/lookers.cpp",
     "nn::HierarchicalAnswer"},
    {"hierarchical_attention", "attn classify --model classify-sections-hierarchical",
     "src/tasks/classify/network.cpp", "nn::HierarchicalAttention"},
    {"key_value_memory", "attn compare remember", "src/tasks/remember/reader.cpp",
     "nn::KeyValueMemory"},
    {"kv_cache_equivalence", "attn write, attn translate", "src/models/language_model.cpp",
     "nn::KvCache"},
    {"las_attention", "attn compare transcribe", "src/tasks/las/listener.cpp",
     "nn::LasAttention"},
    {"las_listener_layer", "attn transcribe --model las", "src/tasks/las/listener.cpp",
     "nn::ListenerLayer"},
    {"learned_position", "attn train write --places learned, attn lesson order",
     "src/models/language_model.cpp", "nn::LearnedPosition"},
    {"local_monotonic", "attn compare pronounce", "src/models/luong.cpp", "nn::LuongAttention"},
    {"local_predictive", "attn pronounce --model pronounce-local", "src/models/luong.cpp",
     "nn::LuongAttention"},
    {"location_aware", "attn transcribe --model las", "src/tasks/las/listener.cpp",
     "nn::LocationAwareAttention"},
    {"luong_decoder", "attn pronounce --model pronounce-global", "src/models/luong.cpp",
     "nn::LuongLoop"},
    {"masked_softmax", "attn lesson addressing", "tools/attn/lessons/addressing.cpp",
     "nn::masked_softmax"},
    {"max_pooling", "attn entail", "src/tasks/entail/matchers.cpp", "nn::max_pooling"},
    {"memory_network", "attn remember", "src/tasks/remember/reader.cpp", "nn::MemoryNetwork"},
    {"merge_states", "attn lesson cost", "tools/attn/lessons/cost.cpp", "nn::split_attention"},
    {"multi_dimensional_attention", "attn lesson heads", "tools/attn/lessons/heads.cpp",
     "nn::SourceToTokenAttention"},
    {"multi_head_attention", "attn translate, attn summarise, attn pronounce",
     "src/models/transformer/stacks.cpp", "nn::MultiHeadAttention"},
    {"multi_step_attention", "attn compare pronounce", "src/models/convolutional.cpp",
     "nn::MultiStepAttention"},
    {"nadaraya_watson", "attn regress", "tools/attn/regression.cpp", "nn::KernelRegression"},
    {"nadaraya_watson_training", "attn regress tutorial",
     "tools/attn/lessons/tutorial_regression.cpp", "nn::KernelRegression"},
    {"non_local_block", "attn watch, attn lesson composite", "src/tasks/watch/network.hpp",
     "nn::NonLocalBlock"},
    {"non_local_transformer", "attn lesson composite", "tools/attn/lessons/composite.cpp",
     "nn::NonLocalTransformer"},
    {"output_head", "", "", "", "the models that ship share their output table with the input"},
    {"pointer", "", "", "", "no task answers with places of its input alone"},
    {"pointer_generator", "attn summarise", "src/models/copying.cpp", "nn::PointerGenerator"},
    {"question_hierarchy", "attn answer", "src/tasks/answer/lookers.cpp",
     "nn::QuestionHierarchy"},
    {"relative_shaw", "attn train --positions relative, attn lesson order",
     "src/models/transformer/stacks.cpp", "nn::RelativeShaw"},
    {"relative_skew", "attn compose, attn lesson order", "src/tasks/compose/layers.cpp",
     "nn::RelativeSkew"},
    {"rotary", "attn pronounce, attn write", "src/models/language_model.cpp", "rotary_table"},
    {"rush_summariser_attention", "", "", "",
     "attn summarise copies words of the text, which came after it"},
    {"score_additive", "attn translate --model translate-zh-en-bahdanau, attn lesson scores",
     "src/models/bahdanau.cpp", "nn::AdditiveScore"},
    {"score_concat", "attn compare pronounce", "src/models/luong.cpp", "nn::LuongAttention"},
    {"score_cosine", "attn lesson scores", "tools/attn/lessons/scores.cpp", "spec::cosine"},
    {"score_dot", "attn compare pronounce, attn lesson scores", "src/models/luong.cpp",
     "nn::LuongAttention"},
    {"score_general", "attn compare pronounce, attn lesson scores", "src/models/luong.cpp",
     "nn::LuongAttention"},
    {"score_location", "attn train --model luong --score location", "src/models/luong.cpp",
     "nn::LuongAttention"},
    {"score_scaled_dot", "attn translate, attn chat, attn lesson scores",
     "tools/attn/lessons/scores.cpp", "spec::scaled_dot"},
    {"seq2seq_rnn", "attn compare pronounce", "src/models/rnn.cpp", "class RnnModel"},
    {"sinusoidal_encoding", "attn translate, attn lesson order",
     "src/models/transformer/position_tables.cpp", "nn::sinusoidal_table"},
    {"spatial_attention", "attn compare answer", "src/tasks/answer/lookers.cpp",
     "nn::SpatialAttention"},
    {"t5_bias", "attn lesson order", "tools/attn/lessons/order.cpp", "nn::T5Bias"},
    {"torch_multihead_attention", "", "", "",
     "it is for weights that PyTorch's module of that name learnt"},
    {"transformer_decoder_layer", "attn translate, attn summarise",
     "src/models/transformer/stacks.cpp", "nn::TransformerLayer"},
    {"transformer_encoder_layer", "attn translate, attn summarise, attn embed",
     "src/models/transformer/stacks.cpp", "nn::TransformerLayer"},
};

}  // namespace

std::span<const MechanismUse> mechanism_uses() {
  return kUses;
}

const MechanismUse* find_use(std::string_view mechanism) {
  const auto* const at =
      std::find_if(std::begin(kUses), std::end(kUses),
                   [&](const MechanismUse& use) { return use.mechanism == mechanism; });
  return at == std::end(kUses) ? nullptr : at;
}

std::string use_text(std::string_view mechanism) {
  const MechanismUse* const use = find_use(mechanism);
  if (use == nullptr) return "";
  return use->by.empty() ? "no task: " + std::string(use->why) : std::string(use->by);
}

}  // namespace attn::serve
