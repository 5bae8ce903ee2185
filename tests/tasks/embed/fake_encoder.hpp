/// A sentence encoder of a few numbers, written as the real one is: files to load and to harm.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace attn::tasks {

struct FakeArray {
  std::vector<std::int64_t> shape;
  std::vector<float> reals;
  std::vector<std::int32_t> integers;
};

/// Change the arrays, the manifest or the vocabulary, then write().
class FakeEncoder {
 public:
  static constexpr int kFeatures = 4, kHeads = 2, kWide = 6, kHidden = 8, kWidth = 5;
  static constexpr int kRows = 12, kMost = 6;
  static constexpr float kEps = 1e-6f, kLeastSquare = 1e-12f;

  FakeEncoder() {
    for (int i = 0; i < 2; ++i) add_layer(i, i == 0 ? kFeatures : kWide);
    random("module/Embeddings_en", {kRows, kFeatures});
    random(kStack + "Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1", {1, kFeatures / 2});
    random("module/Encoder_en/hidden_layers/tanh_layer_0/weights", {kWide, kWidth});
    random("module/Encoder_en/hidden_layers/tanh_layer_0/bias", {kWidth});
    const std::string layer = kStack + "Layer_1/TransformerLayer/";
    integer(layer + "MultiheadAttention/split_heads/split_last_dimension/Reshape/shape/2",
            kHeads);
    integer("module_apply_default/Encoder_en/KonaTransformer/ClipToMaxLength/Less/y", kMost);
    arrays[layer + "FFN/layer_prepostprocess/layer_norm/Cast/x"] = {{}, {kEps}, {}};
    arrays["module_apply_default/Encoder_en/hidden_layers/l2_normalize/Maximum/y"] = {
        {}, {kLeastSquare}, {}};
    vocabulary = nlohmann::json::array({{"\uFFFD", 0},
                                        {"<s>", 0},
                                        {"</s>", 0},
                                        {"e1", 0},
                                        {"e2", 0},
                                        {"e3", 0},
                                        {"\u2581", -4.0},
                                        {"a", -3.0},
                                        {"b", -3.5},
                                        {"ab", -5.0},
                                        {"\u2581a", -6.0},
                                        {"c", -2.0}});
  }

  /// model.json, two shards of one size and a rest, vocab.json.
  void write(const std::filesystem::path& folder) const {
    std::string bytes;
    nlohmann::json weights = nlohmann::json::array();
    for (const auto& [name, array] : arrays) {
      const bool real = array.integers.empty();
      weights.push_back(
          {{"name", name}, {"shape", array.shape}, {"dtype", real ? "float32" : "int32"}});
      const void* data = real ? static_cast<const void*>(array.reals.data())
                              : static_cast<const void*>(array.integers.data());
      bytes.append(static_cast<const char*>(data),
                   4 * (real ? array.reals.size() : array.integers.size()));
    }
    const std::size_t cut = bytes.size() / 3 + 1;  // inside a number
    nlohmann::json paths = nlohmann::json::array();
    for (std::size_t i = 0; i < 3; ++i) {
      paths.push_back("shard" + std::to_string(i + 1));
      put(folder / paths.back().get<std::string>(), bytes.substr(i * cut, cut));
    }
    put(folder / "model.json",
        nlohmann::json{{"weightsManifest", {{{"paths", paths}, {"weights", weights}}}}}.dump());
    put(folder / "vocab.json", vocabulary.dump());
  }

  static void put(const std::filesystem::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }

  const std::vector<float>& reals(const std::string& ending, int layer = -1) const {
    const std::string part = layer < 0 ? "" : "Layer_" + std::to_string(layer) + "/T";
    for (const auto& [name, array] : arrays)
      if (name.ends_with(ending) && name.find(part) != std::string::npos) return array.reals;
    throw std::out_of_range(ending);
  }

  std::map<std::string, FakeArray> arrays;
  nlohmann::json vocabulary;

 private:
  static inline const std::string kEncode =
      "module_apply_default/Encoder_en/KonaTransformer/Encode/";
  static inline const std::string kStack = kEncode + "TransformerStack/";

  void random(const std::string& name, const std::vector<std::int64_t>& shape) {
    FakeArray array{shape, {}, {}};
    std::int64_t count = 1;
    for (const std::int64_t extent : shape) count *= extent;
    for (std::int64_t i = 0; i < count; ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      array.reals.push_back(static_cast<float>(state_ >> 40) * 0x1p-23f - 1.0f);
    }
    arrays[name] = array;
  }
  void integer(const std::string& name, std::int32_t value) {
    arrays[name] = {{}, {}, {value}};
  }
  void add_layer(int index, int width) {
    const std::string layer = "Layer_" + std::to_string(index) + "/TransformerLayer/";
    const std::string own = kEncode + layer;
    const std::string graph = kStack + layer;
    const std::string kernels =
        "module/Encoder_en/KonaTransformer/Encode/" + layer + "MultiheadAttention/";
    const std::string part = "/ConcatPartitions/concat";
    const auto norm = [&](const std::string& place, int features) {
      const std::string name = own + place + "layer_prepostprocess/layer_norm/layer_norm_";
      random(name + "scale" + part, {features});
      random(name + "bias" + part, {features});
    };
    norm("", width);
    norm("FFN/", kWide);
    random(kernels + "qkv_transform_single/kernel/part_0", {1, 1, width, 12});
    random(own + "MultiheadAttention/qkv_transform_single/bias" + part, {12});
    random(kernels + "output_transform_single/kernel/part_0", {1, 1, 4, kWide});
    random(own + "MultiheadAttention/output_transform_single/bias" + part, {kWide});
    if (index == 0) {
      random(own + "dense/kernel" + part, {width, kWide});
      random(own + "dense/bias" + part, {kWide});
    }
    arrays[graph + "MultiheadAttention/mul/y"] = {{}, {0.7f}, {}};
    random(graph + "FFN/conv1/Tensordot/Reshape_1", {kWide, kHidden});
    random(own + "FFN/conv1/bias" + part, {kHidden});
    random(graph + "FFN/conv2/Tensordot/Reshape_1", {kHidden, kWide});
    random(own + "FFN/conv2/bias" + part, {kWide});
  }

  std::uint64_t state_ = 42;
};

}  // namespace attn::tasks
