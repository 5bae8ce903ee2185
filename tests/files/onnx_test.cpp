// Reading ONNX: arrays of every kind, names of nodes, damage at every byte.

#include "attn/files/onnx.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/read_file.hpp"
#include "support/onnx_writer.hpp"

namespace attn::files {
namespace {

using test::field;
using test::number;
using test::onnx_model;
using test::onnx_node;
using test::packed_numbers;
using test::raw_tensor;
using test::tensor_head;

OnnxGraph read(const std::string& content) {
  Bytes bytes(content.size());
  if (!content.empty()) std::memcpy(bytes.data(), content.data(), content.size());
  return {std::move(bytes), "model.onnx"};
}

std::string complaint(const std::string& content) {
  try {
    read(content);
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

void expect_says(const std::string& content, const std::string& part) {
  const std::string said = complaint(content);
  EXPECT_NE(said.find(part), std::string::npos) << "said: " << said << "\nmissing: " << part;
  EXPECT_TRUE(said.starts_with("model.onnx: ")) << said;
}

/// A graph with raw and typed numbers, a node inside of a branch, and attributes.
std::string example() {
  const std::string small = tensor_head("zero", 2, {}) + field(5, packed_numbers({141}));
  const std::string whole = tensor_head("whole", 7, {2}) +
                            field(7, packed_numbers({5, static_cast<std::uint64_t>(-1)}));
  const std::string alone =
      tensor_head("alone", 3, {2}) + number(5, 7) + number(5, static_cast<std::uint64_t>(-128));
  const std::string conv = onnx_node("Conv", "/conv", {"x", "w"}, {"y"}) +
                           field(5, field(1, "strides") + field(8, packed_numbers({64}))) +
                           field(5, field(1, "epsilon") + test::real(2, 0.5f));
  const std::string branch = field(1, onnx_node("MatMul", "/inside", {"y", "whole"}, {"z"})) +
                             field(5, raw_tensor("within", 1, {1}, std::vector<float>{9.0f}));
  const std::string choice = onnx_node("If", "/if", {"c"}, {"z"}) +
                             field(5, field(1, "then_branch") + field(6, branch));
  return onnx_model(field(1, conv) + field(1, choice) +
                    field(5, raw_tensor("w", 1, {2, 1}, std::vector<float>{1.5f, -2.0f})) +
                    field(5, small) + field(5, whole) + field(5, alone));
}

TEST(Onnx, TellsArraysAndTheNodesThatUseThem) {
  const OnnxGraph graph = read(example());
  const ArrayView* w = graph.array("w");
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->dtype, DType::f32);
  EXPECT_EQ(w->shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(copy_as<float>(w->bytes), (std::vector<float>{1.5f, -2.0f}));
  const ArrayView* zero = graph.array("zero");
  ASSERT_NE(zero, nullptr);
  EXPECT_EQ(zero->dtype, DType::u8);
  EXPECT_EQ(copy_as<std::uint8_t>(zero->bytes), (std::vector<std::uint8_t>{141}));
  EXPECT_EQ(copy_as<std::int64_t>(graph.array("whole")->bytes),
            (std::vector<std::int64_t>{5, -1}));
  EXPECT_EQ(copy_as<std::int8_t>(graph.array("alone")->bytes),
            (std::vector<std::int8_t>{7, -128}));
  EXPECT_EQ(copy_as<float>(graph.array("within")->bytes), (std::vector<float>{9.0f}));
  EXPECT_EQ(graph.array("nothing"), nullptr);

  ASSERT_NE(graph.node("/conv"), nullptr);
  EXPECT_EQ(graph.node("/conv")->inputs, (std::vector<std::string>{"x", "w"}));
  EXPECT_EQ(graph.node("/conv")->integers.at("strides"), (std::vector<std::int64_t>{64}));
  EXPECT_EQ(graph.node("/conv")->reals.at("epsilon"), 0.5f);
  ASSERT_NE(graph.node("/inside"), nullptr);
  EXPECT_EQ(graph.maker_of("y")->name, "/conv");
  EXPECT_EQ(graph.maker_of("nothing"), nullptr);
}

// Of nodes of one name the first counts, as those of an If's two branches are alike.
TEST(Onnx, TakesTheFirstNodeOfAName) {
  const OnnxGraph graph = read(onnx_model(field(1, onnx_node("A", "/n", {"first"}, {})) +
                                          field(1, onnx_node("B", "/n", {"second"}, {}))));
  EXPECT_EQ(graph.node("/n")->op, "A");
  EXPECT_EQ(graph.nodes().size(), 2u);
}

// A file that was cut is an error at every place where a field is, and nothing is read beyond.
TEST(Onnx, IsAnErrorWhereverItIsCut) {
  const std::string whole = example();
  for (std::size_t length = 0; length < whole.size(); ++length)
    EXPECT_NE(complaint(whole.substr(0, length)), "") << "cut to " << length << " bytes";
  EXPECT_EQ(complaint(whole), "");
}

// Whatever a byte becomes, the answer is a graph or a FileError.
TEST(Onnx, SurvivesEveryChangedByte) {
  const std::string whole = example();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      EXPECT_NO_FATAL_FAILURE(complaint(changed)) << "byte " << at << " is " << value;
    }
}

TEST(Onnx, NamesWhatIsWrong) {
  const std::vector<float> two{1.0f, 2.0f};
  const auto of = [](const std::string& tensor) { return onnx_model(field(5, tensor)); };
  expect_says("", "there is no graph");
  expect_says("hello", "byte 2: field 13 is of kind 4");
  expect_says(onnx_model("") + onnx_model(""), "a second graph");
  expect_says(of(raw_tensor("w", 1, {3}, two)), "8 bytes are there; [3] of this type has 12");
  expect_says(of(raw_tensor("w", 8, {2}, two)), "its type is 8");
  expect_says(of(raw_tensor("w", 1, {-2}, two)), "its shape [-2] is none");
  expect_says(of(raw_tensor("w", 1, {1LL << 62, 1LL << 62}, two)), "is none");
  expect_says(of(tensor_head("w", 1, {1LL << 40})), "0 numbers are there");
  expect_says(of(tensor_head("w", 2, {1}) + field(5, packed_numbers({256}))),
              "the number 256 is not of its type");
  expect_says(of(tensor_head("w", 6, {1}) + field(7, packed_numbers({1}))),
              "in a field that is not of its type");
  expect_says(of(tensor_head("w", 1, {1}) + field(4, "abc")), "a multiple of 4");
  expect_says(of(raw_tensor("w", 1, {2}, two) + number(14, 1)), "in another file");
  expect_says(of(tensor_head("w", 1, {2}) + field(13, field(1, "location"))), "another file");
  expect_says(onnx_model(field(5, raw_tensor("w", 1, {2}, two)) +
                         field(5, raw_tensor("w", 1, {2}, two))),
              "a second time");
  // The name of a node is text, and a text is not a number.
  expect_says(onnx_model(field(1, number(3, 7))), "the name of a node is a whole number");
  expect_says(onnx_model(field(1, field(3, "\xFF\xFE"))), "is not UTF-8");
  // Ten bytes that go on, and a length beyond the end.
  expect_says(std::string(1, 8) + std::string(11, '\xFF'), "more than 64 bits");
  expect_says(std::string("\x3A\x05") + "ab", "has 5 bytes; 2 are left");
  expect_says(std::string("\x3B", 1), "is of kind 3");
}

TEST(Onnx, RefusesGraphsThatNestTooDeep) {
  std::string graph = field(5, raw_tensor("w", 1, {1}, std::vector<float>{1.0f}));
  for (int i = 0; i < 100; ++i)
    graph = field(1, onnx_node("If", "/" + std::to_string(i), {}, {}) +
                         field(5, field(1, "then_branch") + field(6, graph)));
  expect_says(onnx_model(graph), "more than 8 deep");
}

}  // namespace
}  // namespace attn::files
