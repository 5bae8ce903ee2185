#include "tools/conformance/run.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "conformance/support.hpp"
#include "support/random.hpp"

namespace attn::conformance {
namespace {

using test::EditedCase;
using test::Folder;

/// The message of a case that must fail.
std::string failure_of(const EditedCase& edited) {
  const Folder folder;
  const Outcome outcome = run_case(edited.write(folder));
  EXPECT_FALSE(outcome.passed);
  EXPECT_EQ(outcome.message.find('\n'), std::string::npos) << outcome.message;
  return outcome.message;
}

void expect_failure(const EditedCase& edited, const std::string& mention) {
  const std::string message = failure_of(edited);
  EXPECT_NE(message.find(mention), std::string::npos)
      << '"' << message << "\" lacks \"" << mention << '"';
}

TEST(Run, EveryOnnxCasePassesOnEveryTargetAndOnTheReference) {
  const auto cases = find_cases(test::onnx_cases());
  EXPECT_EQ(cases.size(), 86u);
  for (const auto& path : cases) {
    const Outcome outcome = run_case(path, {.targets = Targets::all, .threads = 2});
    EXPECT_TRUE(outcome.passed) << outcome.name << ": " << outcome.message;
  }
}

TEST(Run, AWrongNumberIsNamedWithItsPlace) {
  EditedCase edited("attention_4d");
  const auto& y = edited.tensor("output.Y");
  auto values = files::copy_as<float>(y.bytes);
  const auto shape = y.shape;  // [2, 3, 4, 8]
  values[((1 * 3 + 2) * 4 + 3) * 8 + 5] += 0.25f;
  edited.put("output.Y", shape, values);
  const std::string message = failure_of(edited);
  EXPECT_NE(message.find("Y differs by 0.25 at [1, 2, 3, 5]"), std::string::npos) << message;
}

TEST(Run, AnExpectedNanIsNotANumber) {
  EditedCase edited("attention_4d");
  const auto& y = edited.tensor("output.Y");
  auto values = files::copy_as<float>(y.bytes);
  const auto shape = y.shape;
  values[0] = std::numeric_limits<float>::quiet_NaN();
  edited.put("output.Y", shape, values);
  expect_failure(edited, "Y differs by inf at [0, 0, 0, 0]");
}

TEST(Run, UnknownThingsFailAndAreNamed) {
  expect_failure(EditedCase("attention_4d").replace("\"Attention\"", "\"Atention\""),
                 "unknown operator \"Atention\"");
  const char* cases[] = {"attention_4d", "flexattention", "linear_attention_linear",
                         "rotary_embedding", "tensorscatter"};
  for (const char* name : cases) {
    EditedCase edited(name);
    edited.replace("\"attributes\": {", "\"attributes\": {\"novel\": 1, ");
    if (std::string(name) == "attention_4d" || std::string(name) == "flexattention" ||
        std::string(name) == "rotary_embedding")
      edited.replace("\"novel\": 1, ", "\"novel\": 1");
    expect_failure(edited, "unknown attribute \"novel\"");
  }
  expect_failure(EditedCase("flexattention_score_mod").replace("\"Add\"", "\"Det\""),
                 "unknown operation \"Det\"");
  expect_failure(
      EditedCase("flexattention_score_mod").replace("\"attr\": {}", "\"attr\": {\"x\": 1}"),
      "unknown attribute \"x\"");
  expect_failure(EditedCase("flexattention_score_mod")
                     .replace("[\"scores\", \"bias\"]", "[\"scores\", \"nobody\"]"),
                 "no value \"nobody\"");
}

TEST(Run, AttributesOutOfRangeFail) {
  const std::string empty = "\"attributes\": {}";
  const char* attributes[] = {"\"is_causal\": 2",
                              "\"qk_matmul_output_mode\": 4",
                              "\"qk_matmul_output_mode\": -1",
                              "\"softmax_precision\": 7",
                              "\"scale\": \"large\"",
                              "\"is_causal\": 0.5",
                              "\"softcap\": [1]",
                              "\"left_window_size\": 1"};  // windows came with version 25
  for (const char* attribute : attributes)
    EXPECT_NE(
        failure_of(EditedCase("attention_4d")
                       .replace(empty, "\"attributes\": {" + std::string(attribute) + "}")),
        "")
        << attribute;
  expect_failure(EditedCase("attention_local_window")
                     .replace("\"left_window_size\": 2", "\"left_window_size\": -2"),
                 "left_window_size");
  expect_failure(EditedCase("attention_3d").replace("\"q_num_heads\": 3", "\"q_num_heads\": 5"),
                 "24 channels, which are not 5 heads");
  expect_failure(EditedCase("attention_3d").replace("\"q_num_heads\": 3", "\"q_num_heads\": 0"),
                 "not 0 heads");
  expect_failure(EditedCase("linear_attention_linear")
                     .replace("\"update_rule\": \"linear\"", "\"update_rule\": \"cubic\""),
                 "\"cubic\"");
  expect_failure(EditedCase("linear_attention_linear")
                     .replace("\"kv_num_heads\": 4", "\"kv_num_heads\": 3"),
                 "multiple");
  expect_failure(
      EditedCase("tensorscatter").replace("\"mode\": \"linear\"", "\"mode\": \"spiral\""),
      "\"spiral\"");
  expect_failure(EditedCase("tensorscatter")
                     .replace("\"mode\": \"linear\"", "\"mode\": \"linear\", \"axis\": 0"),
                 "the first axis is the batch");
  expect_failure(EditedCase("rotary_embedding_with_rotary_dim")
                     .replace("\"rotary_embedding_dim\": 4", "\"rotary_embedding_dim\": 3"),
                 "even");
}

TEST(Run, AnOperatorOlderThanItselfFails) {
  expect_failure(EditedCase("attention_4d").replace("\"ai.onnx\": 23", "\"ai.onnx\": 22"),
                 "came with 23");
  expect_failure(EditedCase("attention_4d").replace("\"ai.onnx\"", "\"ai.other\""),
                 "no ai.onnx");
}

TEST(Run, MissingInputsAndOutputsFail) {
  expect_failure(EditedCase("attention_4d").drop("input.K"), "input.K");
  expect_failure(EditedCase("attention_4d").drop("output.Y"), "output.Y");
  expect_failure(EditedCase("attention_4d").replace("[\"Q\", \"K\", \"V\"]", "[\"Q\", \"K\"]"),
                 "(V) is missing");
  expect_failure(
      EditedCase("attention_4d").replace("[\"Q\", \"K\", \"V\"]", "[\"Q\", \"\", \"V\"]"),
      "(K) is missing");
  expect_failure(
      EditedCase("attention_4d").replace("[\"Q\", \"K\", \"V\"]", "[\"Q\", \"K\", \"W\"]"),
      "\"W\", which nobody writes");
  expect_failure(EditedCase("linear_attention_gated").replace(", \"decay\"]", "]"),
                 "decay belongs to the gated");
  expect_failure(EditedCase("rotary_embedding").replace(", \"position_ids\"]", "]"), "rank");
  expect_failure(EditedCase("tensorscatter").replace("\"update\", \"write_indices\"]", "\"\"]"),
                 "(update) is missing");
}

TEST(Run, WrongTypesAndShapesFail) {
  const std::vector<std::int64_t> whole(2 * 3 * 6 * 8);
  const std::vector<float> small(8);
  for (const char* input : {"input.Q", "input.K", "input.V"}) {
    EXPECT_NE(failure_of(EditedCase("attention_4d").put(input, {2, 3, 6, 8}, whole)), "");
    EXPECT_NE(failure_of(EditedCase("attention_4d").put(input, {8}, small)), "");
    EXPECT_NE(failure_of(EditedCase("attention_4d").put(input, {1, 1, 1, 8}, small)), "");
    EXPECT_NE(failure_of(EditedCase("flexattention").put(input, {2, 3, 6, 8}, whole)), "");
    EXPECT_NE(failure_of(EditedCase("flexattention").put(input, {1, 1, 1, 8}, small)), "");
  }
  for (const char* input : {"input.query", "input.key", "input.value", "input.decay"})
    for (const char* name : {"linear_attention_gated", "linear_attention_gated_delta"}) {
      EXPECT_NE(failure_of(EditedCase(name).put(input, {2, 3, 6, 8}, whole)), "");
      EXPECT_NE(failure_of(EditedCase(name).put(input, {1, 1, 8}, small)), "") << input;
    }
  for (const char* input : {"input.input", "input.cos_cache", "input.sin_cache"}) {
    EXPECT_NE(failure_of(EditedCase("rotary_embedding").put(input, {2, 3, 6, 8}, whole)), "");
    EXPECT_NE(failure_of(EditedCase("rotary_embedding").put(input, {8}, small)), "");
  }
  for (const char* input : {"input.past_cache", "input.update", "input.write_indices"})
    EXPECT_NE(failure_of(EditedCase("tensorscatter").put(input, {8}, small)), "");
  expect_failure(EditedCase("attention_4d_attn_mask").put("input.attn_mask", {2, 4}, small),
                 "attn_mask [2, 4] does not fit");
}

TEST(Run, IndicesOutOfRangeFail) {
  const std::vector<std::int64_t> far{0, 4};
  const std::vector<std::int64_t> below{0, -1};
  expect_failure(EditedCase("tensorscatter").put("input.write_indices", {2}, far), "row 4");
  expect_failure(EditedCase("tensorscatter").put("input.write_indices", {2}, below), "row -1");
  const std::vector<std::int64_t> positions{0, 1, 2, 3, 4, 50};
  expect_failure(EditedCase("rotary_embedding").put("input.position_ids", {2, 3}, positions),
                 "row 50");
  const std::vector<std::int64_t> lengths{7, 1};
  expect_failure(
      EditedCase("attention_4d_padded_kv_bf16").put("input.nonpad_kv_seqlen", {2}, lengths),
      "nonpad_kv_seqlen has 7");
}

TEST(Run, HugeEmptyShapesAreRefusedBeforeTheyCostAnything) {
  const std::vector<float> nothing;
  const std::int64_t huge = std::int64_t{1} << 40;
  for (const char* input : {"input.Q", "input.K", "input.V"})
    expect_failure(EditedCase("attention_4d").put(input, {huge, 0, 4, 8}, nothing),
                   "too large");
  EditedCase quadratic("attention_4d");
  const std::int64_t large = std::int64_t{1} << 24;
  quadratic.put("input.Q", {1, 1, large, 0}, nothing).put("input.K", {1, 1, large, 0}, nothing);
  quadratic.put("input.V", {1, 1, large, 0}, nothing);
  expect_failure(quadratic, "too large");
}

TEST(Run, ADamagedCaseTextFails) {
  expect_failure(EditedCase("attention_4d").text("{"), "case");
  expect_failure(EditedCase("attention_4d").text("[]"), "case");
  expect_failure(EditedCase("attention_4d").text("{\"name\": \"x\"}"), "opset");
  expect_failure(
      EditedCase("attention_4d").replace("\"outputs\": [\"Y\"]}", "\"outputs\": []}"), "");
  expect_failure(EditedCase("attention_4d").replace("\"nodes\": [", "\"nodes\": [3, "),
                 "node 0");
}

TEST(Run, DamagedBytesNeverCrash) {
  const Folder folder;
  test::Random random("damaged cases");
  const char* names[] = {"flexattention_causal_mask", "attention_4d_padded_kv_bf16",
                         "linear_attention_gated_delta_gqa", "rotary_embedding_3d_input",
                         "tensorscatter_circular"};
  for (const char* name : names) {
    std::ifstream in(test::onnx_cases() / (std::string(name) + ".safetensors"),
                     std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(in), {}};
    const auto path = folder.path() / "damaged.safetensors";
    for (int trial = 0; trial < 60; ++trial) {
      std::string bytes = whole;
      if (trial % 3 == 0) {
        bytes.resize(
            static_cast<std::size_t>(random.whole(0, static_cast<int>(whole.size()) - 1)));
      } else {
        // Mostly in the header, where the structure is.
        const int last = static_cast<int>(trial % 3 == 1 ? whole.size() / 2 : whole.size()) - 1;
        for (int flips = random.whole(1, 4); flips > 0; --flips)
          bytes[static_cast<std::size_t>(random.whole(0, last))] =
              static_cast<char>(random.whole(0, 255));
      }
      std::ofstream(path, std::ios::binary) << bytes;
      const Outcome outcome = run_case(path);
      EXPECT_EQ(outcome.passed, outcome.message.empty());
      EXPECT_EQ(outcome.message.find('\n'), std::string::npos);
    }
  }
}

TEST(Run, NodesFeedEachOther) {
  // A cache write whose result is rotated back: TensorScatter twice.
  EditedCase edited("tensorscatter");
  edited.replace("\"outputs\": [\"present_cache\"]", "\"outputs\": [\"middle\"]");
  edited.replace("\"nodes\": [", "\"nodes\": [");
  edited.replace("}], \"inputs\"",
                 "}, {\"op\": \"TensorScatter\", \"inputs\": [\"middle\", \"update\", "
                 "\"write_indices\"], \"outputs\": [\"present_cache\"], \"attributes\": {}}], "
                 "\"inputs\"");
  const Folder folder;
  const Outcome outcome = run_case(edited.write(folder));
  EXPECT_TRUE(outcome.passed) << outcome.message;
}

TEST(FindCases, SortsAndRefusesEmptyAndMissingFolders) {
  const Folder folder;
  EXPECT_THROW(find_cases(folder.path()), FileError);
  EXPECT_THROW(find_cases(folder.path() / "nowhere"), FileError);
  std::ofstream(folder.path() / "b.safetensors") << "x";
  std::ofstream(folder.path() / "a.safetensors") << "x";
  std::ofstream(folder.path() / "NOTICE") << "x";
  const auto cases = find_cases(folder.path());
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_EQ(cases[0].filename(), "a.safetensors");
  EXPECT_EQ(find_cases(cases[1]), std::vector{cases[1]});
}

}  // namespace
}  // namespace attn::conformance
