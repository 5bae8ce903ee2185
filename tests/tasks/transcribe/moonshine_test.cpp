// Graphs become a model: every number from 8 bits at its place, sizes and strides as the graph
// has them, and what is no such graph is told by file and node. Pieces become text.

#include "tasks/transcribe/moonshine.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/onnx.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/base64.hpp"
#include "attn/models/speech_model.hpp"
#include "attn/nn/module.hpp"
#include "support/onnx_writer.hpp"
#include "support/tolerance.hpp"
#include "tasks/scratch.hpp"
#include "tasks/transcribe/fake_package.hpp"
#include "tasks/transcribe/graph_arrays.hpp"

namespace attn::tasks {
namespace {

files::OnnxGraph graph_of(const std::string& content, const std::string& where = "a.onnx") {
  files::Bytes bytes(content.size());
  std::memcpy(bytes.data(), content.data(), content.size());
  return {std::move(bytes), where};
}

TEST(Moonshine, GivesEveryNumberItsPlace) {
  const test::FakePackage package;
  const models::SpeechModel model =
      speech_model(graph_of(package.encoder()), graph_of(package.decoder()));
  EXPECT_EQ(model.options().dim, test::FakePackage::kDim);
  EXPECT_EQ(model.options().heads, test::FakePackage::kHeads);
  EXPECT_EQ(model.options().encoder_layers, 2);
  EXPECT_EQ(model.options().decoder_features, test::FakePackage::kGated);
  EXPECT_EQ(model.options().rotary_dim, 4);
  EXPECT_EQ(model.samples_a_frame(), 384);
  std::size_t count = 0;
  for (const nn::NamedTensor& parameter : model.named_parameters()) {
    const auto wanted = package.parameters().find(parameter.name);
    ASSERT_NE(wanted, package.parameters().end()) << parameter.name;
    EXPECT_EQ(parameter.tensor.to_vector<float>(), wanted->second) << parameter.name;
    ++count;
  }
  EXPECT_EQ(count, package.parameters().size());
}

std::string changed(std::string text, const std::string& from, const std::string& to) {
  EXPECT_EQ(from.size(), to.size());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Moonshine, TellsWhatIsMissing) {
  const test::FakePackage package;
  const auto complaint = [](const std::string& encoder, const std::string& decoder) {
    return message_of<FileError>([&] {
      speech_model(graph_of(encoder, "encoder.onnx"), graph_of(decoder, "decoder.onnx"));
    });
  };
  const auto expect_says = [](const std::string& said, const std::string& part) {
    EXPECT_NE(said.find(part), std::string::npos) << "said: " << said << "\nmissing: " << part;
  };
  expect_says(
      complaint(changed(package.encoder(), "/conv2/Conv", "/konv2/Conv"), package.decoder()),
      "encoder.onnx: there is no node \"/conv2/Conv\"");
  expect_says(complaint(package.encoder(),
                        changed(package.decoder(), "layers.1/mlp/up_proj/MatMul_quant",
                                "layers.1/mlp/up_prof/MatMul_quant")),
              "decoder.onnx: there is no node");
  // The two the other way round.
  expect_says(complaint(package.decoder(), package.encoder()), "there is no node");
  // Positions that turn at another rate.
  std::string other = package.encoder();
  const float rate = 0.01f;
  const std::string bytes(reinterpret_cast<const char*>(&rate), sizeof rate);
  const float fast = 0.02f;
  const std::string more(reinterpret_cast<const char*>(&fast), sizeof fast);
  other = changed(other, bytes, more);
  expect_says(complaint(other, package.decoder()), "positions turn otherwise");
}

using test::field;
using test::onnx_model;
using test::onnx_node;
using test::raw_tensor;

TEST(GraphArrays, RefusesPairsThatAreNone) {
  const auto complaint = [](const std::string& graph) {
    const files::OnnxGraph read = graph_of(onnx_model(graph));
    return message_of<FileError>([&] { GraphArrays(read).linear("/p", 1, 2); });
  };
  const std::vector<std::uint8_t> q{1, 2};
  const std::string nodes =
      field(1, onnx_node("MatMulInteger", "/p/MatMul_quant", {"x", "w", "z", "w0"}, {"y"})) +
      field(1, onnx_node("Mul", "/p/MatMul_quant_scales_mul", {"s", "ws"}, {"z"}));
  const std::string weight = field(5, raw_tensor("w", 2, {2, 1}, q));
  const std::string scale = field(5, raw_tensor("ws", 1, {}, std::vector<float>{0.5f}));
  const std::string zero = field(5, raw_tensor("w0", 2, {}, std::vector<std::uint8_t>{1}));
  EXPECT_EQ(complaint(nodes + weight + scale + zero), "");
  EXPECT_NE(complaint(nodes + weight + scale).find("\"w0\", which is no array"),
            std::string::npos);
  EXPECT_NE(complaint(nodes + weight + zero).find("\"ws\", which is no array"),
            std::string::npos);
  // A zero point of another type, and one for each column.
  EXPECT_NE(complaint(nodes + weight + scale +
                      field(5, raw_tensor("w0", 3, {}, std::vector<std::uint8_t>{1})))
                .find("zero point of their type"),
            std::string::npos);
  EXPECT_NE(complaint(nodes + weight + scale + field(5, raw_tensor("w0", 2, {2}, q)))
                .find("zero point of their type"),
            std::string::npos);
  EXPECT_NE(complaint(nodes + field(5, raw_tensor("w", 2, {1, 2}, q)) + scale + zero)
                .find("shape [1, 2]; [2, 1] is needed"),
            std::string::npos);
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_NE(complaint(nodes + weight + zero +
                      field(5, raw_tensor("ws", 1, {}, std::vector<float>{infinite})))
                .find("not finite"),
            std::string::npos);
}

TEST(GraphArrays, ReadsWeightsThatAreNotQuantised) {
  const std::vector<float> weight{1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f};
  const files::OnnxGraph graph =
      graph_of(onnx_model(field(1, onnx_node("MatMul", "/p/MatMul", {"x", "w"}, {"y"})) +
                          field(5, raw_tensor("w", 1, {2, 3}, weight))));
  EXPECT_EQ(GraphArrays(graph).linear("/p", 3, 2).to_vector<float>(),
            (std::vector<float>{1.0f, 4.0f, 2.0f, 5.0f, 3.0f, 6.0f}));
}

SpeechPieces pieces_of(const std::string& lines) {
  return SpeechPieces::parse(
      "x=\"a\",llama_vocab_base64=\"" +
          maps::to_base64(std::vector<std::uint8_t>(lines.begin(), lines.end())) + "\";",
      "a.js");
}

TEST(SpeechPieces, BecomeText) {
  const SpeechPieces pieces = pieces_of(
      "<unk>\n<s>\n</s>\n<0xE7>\n<0x8C>\n<0xAB>\n\xE2\x96\x81Mr\n.\n\xE2\x96\x81"
      "a\xE2\x96\x81");
  EXPECT_EQ(pieces.size(), 9u);
  const auto text = [&](const std::vector<std::int64_t>& tokens) {
    return pieces.text(tokens);
  };
  EXPECT_EQ(text({1, 6, 7, 8, 2}), "Mr. a ");
  EXPECT_EQ(text({3, 4, 5}), "猫");
  // Half a character, and a number that no piece has.
  EXPECT_EQ(text({6, 3, 4}), "Mr\xEF\xBF\xBD");
  EXPECT_EQ(text({6, 32767, -1}), "Mr");
  EXPECT_EQ(text({}), "");
}

TEST(SpeechPieces, AreAnErrorWhereTheyAreMissing) {
  const auto complaint = [](const std::string& script) {
    return message_of<FileError>([&] { SpeechPieces::parse(script, "a.js"); });
  };
  EXPECT_NE(complaint("nothing").find("there are no pieces"), std::string::npos);
  EXPECT_NE(complaint("llama_vocab_base64=\"abc").find("there are no pieces"),
            std::string::npos);
  EXPECT_NE(complaint("llama_vocab_base64=\"a*c\"").find("not base64"), std::string::npos);
  EXPECT_NE(complaint("llama_vocab_base64=\"//79\"").find("not UTF-8"), std::string::npos);
}

}  // namespace
}  // namespace attn::tasks
