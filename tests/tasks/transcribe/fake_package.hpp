/// A speech model of a few numbers, written as the package of the real ones is: two ONNX graphs
/// with 8-bit numbers and a program that holds the pieces.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "attn/maps/base64.hpp"
#include "support/onnx_writer.hpp"

namespace attn::test {

class FakePackage {
 public:
  static constexpr std::int64_t kDim = 12;
  static constexpr std::int64_t kFeatures = 10;
  static constexpr std::int64_t kGated = 6;
  static constexpr std::int64_t kVocabulary = 24;
  static constexpr std::int64_t kHeads = 2;

  FakePackage() {
    make_encoder();
    make_decoder();
  }

  std::string encoder() const { return onnx_model(encoder_); }
  std::string decoder() const {
    // As the package has it: the nodes lie in the branches of an If, the arrays outside.
    const std::string choice = onnx_node("If", "optimum::if", {"use_cache"}, {"logits"}) +
                               field(5, field(1, "else_branch") + field(6, decoder_nodes_));
    return onnx_model(field(1, choice) + decoder_arrays_);
  }
  static std::string script() {
    std::string lines = "<unk>\n<s>\n</s>";
    for (std::int64_t i = 3; i < kVocabulary; ++i)
      lines += i % 3 == 0 ? "\n\xE2\x96\x81w" + std::to_string(i)
                          : (i % 7 == 0 ? "\n<0x41>" : "\nx" + std::to_string(i));
    return "const a=1,llama_vocab_base64=\"" +
           maps::to_base64(std::vector<std::uint8_t>(lines.begin(), lines.end())) +
           "\",llama_merges_binary=\"AAAA\";";
  }

  /// What a parameter of the model must be, by its name.
  const std::map<std::string, std::vector<float>>& parameters() const { return wanted_; }

  /// As the folder of the package.
  void write(const std::filesystem::path& folder) const {
    for (const char* model : {"tiny", "base"}) {
      const auto inside = folder / "dist" / "model" / model / "quantized";
      std::filesystem::create_directories(inside);
      std::ofstream(inside / "encoder_model.onnx", std::ios::binary) << encoder();
      std::ofstream(inside / "decoder_model_merged.onnx", std::ios::binary) << decoder();
    }
    std::ofstream(folder / "dist" / "moonshine.min.js", std::ios::binary) << script();
  }

 private:
  using Floats = std::vector<float>;

  /// The same on every machine, 0..255.
  std::uint8_t draw() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::uint8_t>(state_ >> 56U);
  }
  std::vector<std::uint8_t> draws(std::int64_t count) {
    std::vector<std::uint8_t> numbers;
    for (std::int64_t i = 0; i < count; ++i) numbers.push_back(draw());
    return numbers;
  }
  Floats reals(std::int64_t count, float middle) {
    Floats numbers;
    for (std::int64_t i = 0; i < count; ++i)
      numbers.push_back(middle + (static_cast<float>(draw()) - 127.0f) / 512.0f);
    return numbers;
  }

  void array(const std::string& bytes) {
    (decoder_now_ ? decoder_arrays_ : encoder_) += field(5, bytes);
  }
  void node(const std::string& bytes) {
    (decoder_now_ ? decoder_nodes_ : encoder_) += field(1, bytes);
  }
  std::string next_name() { return "onnx::" + std::to_string(1000 + names_++); }

  static std::string typed_scalar(const std::string& name, std::uint8_t value) {
    return tensor_head(name, 2, {}) + field(5, packed_numbers({value}));
  }

  /// A product of [in, out] 8-bit numbers; gives them as [out, in] real ones.
  Floats product(const std::string& name, std::int64_t in, std::int64_t out) {
    const std::string base = next_name();
    const float scale = 0.001f + static_cast<float>(draw()) * 1e-5f;
    const std::uint8_t zero = draw();
    const auto q = draws(in * out);
    array(raw_tensor(base + "_quantized", 2, {in, out}, q));
    array(tensor_head(base + "_scale", 1, {}) + real(4, scale));
    array(typed_scalar(base + "_zero_point", zero));
    node(onnx_node("MatMulInteger", name + "/MatMul_quant",
                   {"x_quantized", base + "_quantized", "x_zero_point", base + "_zero_point"},
                   {name + "_quantized_output"}));
    node(onnx_node("Mul", name + "/MatMul_quant_scales_mul", {"x_scale", base + "_scale"},
                   {name + "_scales"}));
    Floats weight(static_cast<std::size_t>(in * out));
    for (std::int64_t i = 0; i < in; ++i)
      for (std::int64_t o = 0; o < out; ++o)
        weight[static_cast<std::size_t>(o * in + i)] =
            static_cast<float>(int{q[static_cast<std::size_t>(i * out + o)]} - int{zero}) *
            scale;
    return weight;
  }

  Floats operand(const std::string& op, const std::string& name,
                 const std::vector<std::int64_t>& shape, float middle) {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    const std::string own = next_name();
    Floats numbers = reals(count, middle);
    array(raw_tensor(own, 1, shape, numbers));
    node(onnx_node(op, name, {"x", own}, {name + "_output"}));
    return numbers;
  }

  void convolution(const std::string& name, const std::string& parameter, std::int64_t out,
                   std::int64_t in, std::int64_t kernel, std::int64_t stride, bool bias) {
    const float scale = 0.004f;
    const float shift = 0.0125f;
    const auto q = draws(out * in * kernel);
    array(raw_tensor(name + ".weight_quantized", 3, {out, in, kernel}, q));
    array(raw_tensor(name + ".weight_scale", 1, {1}, Floats{scale}));
    array(raw_tensor(name + ".weight_zero_point", 1, {1}, Floats{shift}));
    node(onnx_node("Cast", name + "_cast", {name + ".weight_quantized"}, {name + "_c"}));
    node(onnx_node("Mul", name + "_mul", {name + "_c", name + ".weight_scale"}, {name + "_m"}));
    node(onnx_node("Add", name + "_add", {name + "_m", name + ".weight_zero_point"},
                   {name + "_a"}));
    std::vector<std::string> inputs{"x", name + "_a"};
    if (bias) {
      wanted_[parameter + ".bias"] = reals(out, 0.0f);
      array(raw_tensor(name + ".bias", 1, {out}, wanted_[parameter + ".bias"]));
      inputs.push_back(name + ".bias");
    }
    const auto whole = [](const char* key, std::int64_t value) {
      return field(
          5, field(1, key) + field(8, packed_numbers({static_cast<std::uint64_t>(value)})));
    };
    node(onnx_node("Conv", "/" + name + "/Conv", inputs, {name + "_y"}) +
         whole("strides", stride) + whole("kernel_shape", kernel));
    Floats& weight = wanted_[parameter + ".weight"];
    for (const std::uint8_t number : q)
      weight.push_back(static_cast<float>(static_cast<std::int8_t>(number)) * scale + shift);
  }

  void norm(const std::string& name, const std::string& parameter) {
    wanted_[parameter + ".weight"] = operand("Mul", name + "/Mul", {kDim}, 1.0f);
    wanted_[parameter + ".bias"] = Floats(kDim, 0.0f);
  }

  Floats products(const std::string& name, const std::vector<std::string>& parts) {
    Floats all;
    for (const std::string& part : parts) {
      const Floats one = product(name + part, kDim, kDim);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }

  void self_attention(const std::string& name, const std::string& parameter) {
    wanted_[parameter + ".in.weight"] = products(name, {"/q_proj", "/k_proj", "/v_proj"});
    wanted_[parameter + ".in.bias"] = Floats(3 * kDim, 0.0f);
    wanted_[parameter + ".out.weight"] = products(name, {"/dense"});
    wanted_[parameter + ".out.bias"] = Floats(kDim, 0.0f);
  }

  void turns(const std::string& stack) {
    Floats frequencies;
    for (const double i : {0.0, 1.0})
      frequencies.push_back(static_cast<float>(std::pow(10000.0, -2.0 * i / 4.0)));
    const std::string own = next_name();
    array(raw_tensor(own, 1, {1, 2, 1}, frequencies));
    node(onnx_node("MatMul", stack + "/rotary_emb/MatMul", {own, "positions"}, {stack + "_t"}));
  }

  void make_encoder() {
    convolution("conv1", "stem.first", kDim, 1, 127, 64, false);
    wanted_["stem.norm.weight"] = operand("Mul", "/groupnorm/Mul", {kDim, 1}, 1.0f);
    wanted_["stem.norm.bias"] = operand("Add", "/groupnorm/Add", {kDim, 1}, 0.0f);
    convolution("conv2", "stem.second", 2 * kDim, kDim, 7, 3, true);
    convolution("conv3", "stem.third", kDim, 2 * kDim, 3, 2, true);
    const std::string heads = next_name();
    array(tensor_head(heads, 7, {1}) + field(7, packed_numbers({kHeads})));
    node(onnx_node("Concat", "/layers.0/self_attn/Concat", {"a", "b", heads, "c"}, {"shape"}));
    const std::string eps = next_name();
    array(raw_tensor(eps, 1, {}, Floats{1e-5f}));
    node(onnx_node("Add", "/layers.0/input_layernorm/Add", {"x", eps}, {"e"}));
    turns("");
    for (const std::string layer : {"0", "1"}) {
      const std::string name = "/layers." + layer;
      const std::string parameter = "encoder." + layer;
      norm(name + "/input_layernorm", parameter + ".self_norm");
      self_attention(name + "/self_attn", parameter + ".self");
      norm(name + "/post_attention_layernorm", parameter + ".feed_norm");
      wanted_[parameter + ".feed.in.weight"] = product(name + "/mlp/fc1", kDim, kFeatures);
      wanted_[parameter + ".feed.in.bias"] =
          operand("Add", name + "/mlp/fc1/Add", {kFeatures}, 0.0f);
      wanted_[parameter + ".feed.out.weight"] = product(name + "/mlp/fc2", kFeatures, kDim);
      wanted_[parameter + ".feed.out.bias"] =
          operand("Add", name + "/mlp/fc2/Add", {kDim}, 0.0f);
    }
    norm("/layer_norm", "encoder.norm");
  }

  void make_decoder() {
    decoder_now_ = true;
    const std::string stack = "/model/decoder";
    auto q = draws(kVocabulary * kDim);
    // Marks get the logit 0, which is hardly ever the largest: the model writes to its limit.
    std::fill_n(q.begin(), 3 * kDim, std::uint8_t{129});
    array(raw_tensor("table_quantized", 2, {kVocabulary, kDim}, q));
    array(tensor_head("table_scale", 1, {}) + real(4, 0.01f));
    array(typed_scalar("table_zero", 129));
    node(onnx_node("Gather", stack + "/embed_tokens/Gather", {"table_quantized", "ids"},
                   {"rows"}));
    node(onnx_node("DequantizeLinear", stack + "/embed_tokens/Gather_output_0_DequantizeLinear",
                   {"rows", "table_scale", "table_zero"}, {"words"}));
    for (const std::uint8_t number : q)
      wanted_["words.weight"].push_back(static_cast<float>(int{number} - 129) * 0.01f);
    turns(stack);
    for (const std::string layer : {"0", "1"}) {
      const std::string name = stack + "/layers." + layer;
      const std::string parameter = "decoder." + layer;
      norm(name + "/input_layernorm", parameter + ".self_norm");
      self_attention(name + "/self_attn", parameter + ".self");
      norm(name + "/post_attention_layernorm", parameter + ".source_norm");
      const std::string memory = name + "/encoder_attn";
      wanted_[parameter + ".source.query.weight"] = products(memory, {"/q_proj"});
      wanted_[parameter + ".source.query.bias"] = Floats(kDim, 0.0f);
      wanted_[parameter + ".source.key_value.weight"] =
          products(memory, {"/k_proj", "/v_proj"});
      wanted_[parameter + ".source.key_value.bias"] = Floats(2 * kDim, 0.0f);
      wanted_[parameter + ".source.out.weight"] = products(memory, {"/dense"});
      wanted_[parameter + ".source.out.bias"] = Floats(kDim, 0.0f);
      norm(name + "/final_layernorm", parameter + ".feed_norm");
      const Floats both = product(name + "/mlp/up_proj", kDim, 2 * kGated);
      const Floats bias = operand("Add", name + "/mlp/up_proj/Add", {2 * kGated}, 0.0f);
      const auto half = both.begin() + static_cast<std::ptrdiff_t>(both.size() / 2);
      wanted_[parameter + ".feed.in.weight"] = Floats(both.begin(), half);
      wanted_[parameter + ".feed.gate.weight"] = Floats(half, both.end());
      wanted_[parameter + ".feed.in.bias"] = Floats(bias.begin(), bias.begin() + kGated);
      wanted_[parameter + ".feed.gate.bias"] = Floats(bias.begin() + kGated, bias.end());
      wanted_[parameter + ".feed.out.weight"] = product(name + "/mlp/down_proj", kGated, kDim);
      wanted_[parameter + ".feed.out.bias"] =
          operand("Add", name + "/mlp/down_proj/Add", {kDim}, 0.0f);
    }
    norm(stack + "/norm", "decoder.norm");
  }

  std::uint64_t state_ = 11;
  int names_ = 0;
  bool decoder_now_ = false;
  std::string encoder_;
  std::string decoder_nodes_;
  std::string decoder_arrays_;
  std::map<std::string, std::vector<float>> wanted_;
};

}  // namespace attn::test
