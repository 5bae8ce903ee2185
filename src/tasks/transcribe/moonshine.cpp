// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/moonshine.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/onnx.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/base64.hpp"
#include "attn/models/speech_model.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/transcribe/graph_arrays.hpp"

namespace attn::tasks {
namespace {

const std::array<std::string, 3> kStem{"/conv1/Conv", "/conv2/Conv", "/conv3/Conv"};
const std::string kDecoder = "/model/decoder";
const std::string kWords = kDecoder + "/embed_tokens/Gather";

/// No model of this kind is larger; a file must not ask for all memory there is.
constexpr std::int64_t kMostFeatures = 8192;
constexpr std::int64_t kMostLayers = 64;

std::string layer_of(const std::string& stack, std::int64_t index) {
  return stack + "/layers." + std::to_string(index);
}

std::int64_t layers_of(const GraphArrays& graph, const std::string& stack) {
  std::int64_t count = 0;
  while (count < kMostLayers && graph.has(layer_of(stack, count) + "/input_layernorm/Mul"))
    ++count;
  return count;
}

/// The base of the turns, whose frequencies are base^(-2 i / channels).
void check_turns(const GraphArrays& graph, const std::string& stack, double base,
                 std::int64_t channels) {
  const std::vector<float> seen = graph.reals(stack + "/rotary_emb/MatMul");
  bool right = static_cast<std::int64_t>(2 * seen.size()) == channels;
  constexpr double kNear = 1e-6;  // they are f32
  for (std::size_t i = 0; right && i < seen.size(); ++i)
    right = std::abs(static_cast<double>(seen[i]) -
                     std::pow(base, -2.0 * static_cast<double>(i) /
                                        static_cast<double>(channels))) < kNear;
  if (!right)
    fail<FileError>(graph.where(), ": positions turn otherwise than by 10000^(-2 i / ",
                    channels, ")");
}

models::SpeechModelOptions options_of(const GraphArrays& encoder, const GraphArrays& decoder) {
  models::SpeechModelOptions options;
  options.dim = encoder.operand("/layer_norm/Mul", {-1}).size(0);
  options.heads = encoder.whole("/layers.0/self_attn/Concat", 2);
  options.encoder_layers = layers_of(encoder, "");
  options.decoder_layers = layers_of(decoder, kDecoder);
  options.encoder_features = encoder.operand("/layers.0/mlp/fc1/Add", {-1}).size(0);
  options.decoder_features =
      decoder.operand(layer_of(kDecoder, 0) + "/mlp/up_proj/Add", {-1}).size(0) / 2;
  options.vocabulary = decoder.rows(kWords);
  options.rotary_dim =
      2 * static_cast<std::int64_t>(encoder.reals("/rotary_emb/MatMul").size());
  options.norm_eps = encoder.real("/layers.0/input_layernorm/Add");
  for (std::size_t i = 0; i < kStem.size(); ++i)
    options.stem[i] = {encoder.attribute(kStem[i], "kernel_shape"),
                       encoder.attribute(kStem[i], "strides")};
  for (const std::int64_t size :
       {options.dim, options.heads, options.encoder_features, options.decoder_features,
        options.stem[0].kernel, options.stem[1].kernel, options.stem[2].kernel})
    if (size < 1 || size > kMostFeatures)
      fail<FileError>(encoder.where(), ": a size of ", size, "; 1 to ", kMostFeatures,
                      " are read");
  try {
    models::validate(options);
  } catch (const InvalidArgument& error) {
    fail<FileError>(encoder.where(), ": ", error.what());
  }
  check_turns(encoder, "", options.rotary_base, options.rotary_dim);
  check_turns(decoder, kDecoder, options.rotary_base, options.rotary_dim);
  return options;
}

/// Gives the parameters of a model their numbers.
class Giver {
 public:
  explicit Giver(const models::SpeechModel& model) : parameters_(model.named_parameters()) {}

  void give(const std::string& name, const Tensor& numbers) {
    nn::find_tensor(parameters_, name).copy_from(numbers);
  }
  void give_zeros(const std::string& name) { nn::find_tensor(parameters_, name).fill(0.0); }

 private:
  std::vector<nn::NamedTensor> parameters_;
};

void give_norm(Giver& giver, const std::string& name, const GraphArrays& graph,
               const std::string& node, std::int64_t dim) {
  giver.give(name + ".weight", graph.operand(node + "/Mul", {dim}));
  giver.give_zeros(name + ".bias");
}

/// Attention has no biases.
void give_self(Giver& giver, const std::string& name, const GraphArrays& graph,
               const std::string& node, std::int64_t dim) {
  giver.give(name + ".in.weight",
             concat(std::vector<Tensor>{graph.linear(node + "/q_proj", dim, dim),
                                        graph.linear(node + "/k_proj", dim, dim),
                                        graph.linear(node + "/v_proj", dim, dim)},
                    0));
  giver.give_zeros(name + ".in.bias");
  giver.give(name + ".out.weight", graph.linear(node + "/dense", dim, dim));
  giver.give_zeros(name + ".out.bias");
}

void give_memory(Giver& giver, const std::string& name, const GraphArrays& graph,
                 const std::string& node, std::int64_t dim) {
  giver.give(name + ".query.weight", graph.linear(node + "/q_proj", dim, dim));
  giver.give_zeros(name + ".query.bias");
  giver.give(name + ".key_value.weight",
             concat(std::vector<Tensor>{graph.linear(node + "/k_proj", dim, dim),
                                        graph.linear(node + "/v_proj", dim, dim)},
                    0));
  giver.give_zeros(name + ".key_value.bias");
  giver.give(name + ".out.weight", graph.linear(node + "/dense", dim, dim));
  giver.give_zeros(name + ".out.bias");
}

void give_projection(Giver& giver, const std::string& name, const GraphArrays& graph,
                     const std::string& node, std::int64_t out, std::int64_t in) {
  giver.give(name + ".weight", graph.linear(node, out, in));
  giver.give(name + ".bias", graph.operand(node + "/Add", {out}));
}

void give_encoder(Giver& giver, const models::SpeechModelOptions& options,
                  const GraphArrays& graph) {
  const std::int64_t dim = options.dim;
  giver.give("stem.first.weight", graph.convolution(kStem[0], dim, 1, options.stem[0].kernel));
  giver.give("stem.norm.weight", graph.operand("/groupnorm/Mul", {dim, 1}));
  giver.give("stem.norm.bias", graph.operand("/groupnorm/Add", {dim, 1}));
  giver.give("stem.second.weight",
             graph.convolution(kStem[1], 2 * dim, dim, options.stem[1].kernel));
  giver.give("stem.second.bias", graph.bias(kStem[1], 2 * dim));
  giver.give("stem.third.weight",
             graph.convolution(kStem[2], dim, 2 * dim, options.stem[2].kernel));
  giver.give("stem.third.bias", graph.bias(kStem[2], dim));
  for (std::int64_t i = 0; i < options.encoder_layers; ++i) {
    const std::string name = "encoder." + std::to_string(i) + ".";
    const std::string node = layer_of("", i);
    give_norm(giver, name + "self_norm", graph, node + "/input_layernorm", dim);
    give_self(giver, name + "self", graph, node + "/self_attn", dim);
    give_norm(giver, name + "feed_norm", graph, node + "/post_attention_layernorm", dim);
    give_projection(giver, name + "feed.in", graph, node + "/mlp/fc1", options.encoder_features,
                    dim);
    give_projection(giver, name + "feed.out", graph, node + "/mlp/fc2", dim,
                    options.encoder_features);
  }
  give_norm(giver, "encoder.norm", graph, "/layer_norm", dim);
}

void give_decoder(Giver& giver, const models::SpeechModelOptions& options,
                  const GraphArrays& graph) {
  const std::int64_t dim = options.dim;
  const std::int64_t features = options.decoder_features;
  giver.give("words.weight", graph.table(kWords));
  for (std::int64_t i = 0; i < options.decoder_layers; ++i) {
    const std::string name = "decoder." + std::to_string(i) + ".";
    const std::string node = layer_of(kDecoder, i);
    give_norm(giver, name + "self_norm", graph, node + "/input_layernorm", dim);
    give_self(giver, name + "self", graph, node + "/self_attn", dim);
    give_norm(giver, name + "source_norm", graph, node + "/post_attention_layernorm", dim);
    give_memory(giver, name + "source", graph, node + "/encoder_attn", dim);
    give_norm(giver, name + "feed_norm", graph, node + "/final_layernorm", dim);
    // One product makes both: first what is gated, then the gate.
    const Tensor both = graph.linear(node + "/mlp/up_proj", 2 * features, dim);
    const Tensor bias = graph.operand(node + "/mlp/up_proj/Add", {2 * features});
    giver.give(name + "feed.in.weight", both.slice(0, 0, features));
    giver.give(name + "feed.in.bias", bias.slice(0, 0, features));
    giver.give(name + "feed.gate.weight", both.slice(0, features, 2 * features));
    giver.give(name + "feed.gate.bias", bias.slice(0, features, 2 * features));
    give_projection(giver, name + "feed.out", graph, node + "/mlp/down_proj", dim, features);
  }
  give_norm(giver, "decoder.norm", graph, kDecoder + "/norm", dim);
}

}  // namespace

SpeechFiles::SpeechFiles(const std::string& model)
    : encoder("dist/model/" + model + "/quantized/encoder_model.onnx"),
      decoder("dist/model/" + model + "/quantized/decoder_model_merged.onnx"),
      pieces("dist/moonshine.min.js") {}

models::SpeechModel speech_model(const files::OnnxGraph& encoder,
                                 const files::OnnxGraph& decoder) {
  const NoGrad off_the_tape;
  const GraphArrays sounds(encoder);
  const GraphArrays words(decoder);
  const models::SpeechModelOptions options = options_of(sounds, words);
  const nn::ZeroStart numbers_follow;
  models::SpeechModel model(options);
  model.eval();
  Giver giver(model);
  give_encoder(giver, options, sounds);
  give_decoder(giver, options, words);
  return model;
}

SpeechPieces SpeechPieces::read(const std::filesystem::path& script) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;
  return parse(files::read_text(script, kLargest), files::path_text(script));
}

SpeechPieces SpeechPieces::parse(std::string_view script, const std::string& where) {
  constexpr std::string_view kName = "llama_vocab_base64=\"";
  const std::size_t name = script.find(kName);
  const std::size_t begin = name == std::string_view::npos ? name : name + kName.size();
  const std::size_t end = begin == std::string_view::npos ? begin : script.find('"', begin);
  if (end == std::string_view::npos)
    fail<FileError>(where, ": there are no pieces in it; llama_vocab_base64 holds them");
  const auto bytes = maps::from_base64(script.substr(begin, end - begin));
  if (!bytes) fail<FileError>(where, ": llama_vocab_base64 is not base64");
  const std::string text(bytes->begin(), bytes->end());
  if (!files::is_utf8(text)) fail<FileError>(where, ": its pieces are not UTF-8");
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t line = std::min(text.find('\n', at), text.size());
    pieces.push_back(text.substr(at, line - at));
    at = line + 1;
  }
  return SpeechPieces(std::move(pieces));
}

std::string SpeechPieces::text(std::span<const std::int64_t> tokens) const {
  constexpr const char* kReplacement = "\xEF\xBF\xBD";
  std::string all;
  for (const std::int64_t token : tokens) all += bytes(token);
  if (all.starts_with(' ')) all.erase(0, 1);
  std::string valid;
  for (std::size_t at = 0; at < all.size();) {
    std::size_t length = 1;
    while (at + length < all.size() &&
           (static_cast<unsigned char>(all[at + length]) & 0xC0U) == 0x80U)
      ++length;
    const std::string_view one = std::string_view(all).substr(at, length);
    valid += files::is_utf8(one) ? one : std::string_view(kReplacement);
    at += length;
  }
  return valid;
}

std::string SpeechPieces::bytes(std::int64_t token) const {
  constexpr std::string_view kSpace = "\xE2\x96\x81";
  constexpr std::size_t kByteLength = 6;  // "<0x0A>"
  if (token <= kEnd || token >= static_cast<std::int64_t>(pieces_.size())) return "";
  const std::string& piece = pieces_[static_cast<std::size_t>(token)];
  if (piece.size() == kByteLength && piece.starts_with("<0x") && piece.back() == '>') {
    unsigned value = 0;
    const char* end = piece.data() + kByteLength - 1;
    if (std::from_chars(piece.data() + 3, end, value, 16).ptr == end)
      return {static_cast<char>(value)};
  }
  std::string bytes;
  for (std::size_t at = 0; at < piece.size();) {
    const bool space = std::string_view(piece).substr(at).starts_with(kSpace);
    bytes += space ? ' ' : piece[at];
    at += space ? kSpace.size() : 1;
  }
  return bytes;
}

}  // namespace attn::tasks
