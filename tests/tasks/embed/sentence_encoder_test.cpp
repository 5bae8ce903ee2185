#include "attn/tasks/embed/sentence_encoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/embed/fetch.hpp"
#include "attn/tensor/tensor.hpp"
#include "support/tolerance.hpp"
#include "tasks/embed/fake_encoder.hpp"
#include "tasks/embed/plain_encoder.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;
using Ids = std::vector<std::int64_t>;

const std::vector<std::string> kTexts{"a",   "abc", "ab ab ab ab ab", "z", "cab", " ",
                                      "c c", "ab"};

TEST(SentenceEncoder, AgreesWithPlainLoopsInDouble) {
  const Scratch scratch;
  const FakeEncoder fake;
  fake.write(scratch.path());
  const auto encoder = SentenceEncoder::load(scratch.path());
  EXPECT_EQ(encoder.width(), FakeEncoder::kWidth);
  EXPECT_EQ(encoder.max_pieces(), FakeEncoder::kMost);
  const std::vector<float> got = encoder.encode(kTexts).to_vector<float>();
  for (std::size_t i = 0; i < kTexts.size(); ++i) {
    const auto want = plain_encode(fake, encoder.pieces(kTexts[i]));
    for (std::size_t c = 0; c < want.size(); ++c)
      // Five products of at most 12 terms follow each other.
      EXPECT_TRUE(
          test::close(got[i * want.size() + c], want[c], test::tolerance(DType::f32, 5 * 12)))
          << kTexts[i] << ", " << c;
  }
}

TEST(SentenceEncoder, OrderAndCompanyDoNotMatter) {
  const Scratch scratch;
  FakeEncoder().write(scratch.path());
  const auto encoder = SentenceEncoder::load(scratch.path());
  std::vector<std::string> many;
  many.reserve(500);
  for (int i = 0; i < 500; ++i) many.push_back(kTexts[static_cast<std::size_t>(i * 5 % 8)]);
  const Tensor together = encoder.encode(many);
  for (std::size_t i = 0; i < many.size(); i += 37) {
    const auto alone = encoder.encode(std::span(many).subspan(i, 1)).to_vector<float>();
    const auto row = together.select(0, static_cast<std::int64_t>(i)).to_vector<float>();
    double square = 0.0;
    for (std::size_t c = 0; c < row.size(); ++c) {
      EXPECT_TRUE(test::close(row[c], alone[c], test::tolerance(DType::f32, 12))) << many[i];
      square += double{row[c]} * double{row[c]};
    }
    EXPECT_NEAR(square, 1.0, test::kFloat);
  }
  EXPECT_EQ(encoder.encode({}).size(0), 0);
}

TEST(SentenceEncoder, WhatIsBehindTheLastPieceItReadsDoesNotCount) {
  const Scratch scratch;
  FakeEncoder().write(scratch.path());
  const auto encoder = SentenceEncoder::load(scratch.path());
  const std::vector<std::string> texts{"ccccc", "cccccb", "cccccccca"};  // one more: the space
  const Tensor vectors = encoder.encode(texts);
  for (int i = 1; i < 3; ++i)
    EXPECT_EQ(vectors.select(0, i).to_vector<float>(), vectors.select(0, 0).to_vector<float>());
}

TEST(SentenceEncoder, EmptyAndDamagedTextsAreNamed) {
  const Scratch scratch;
  FakeEncoder().write(scratch.path());
  const auto encoder = SentenceEncoder::load(scratch.path());
  for (const auto& [bad, what] :
       {std::pair{"", "text 2 of 3 is empty"}, std::pair{"\xff", "text 2 of 3 is not UTF-8"}}) {
    const std::vector<std::string> texts{"a", bad, "b"};
    const std::string says = message_of<InvalidArgument>([&] { encoder.encode(texts); });
    EXPECT_NE(says.find(what), std::string::npos) << says;
  }
}

/// What load() says of a folder that something was done to.
template <class Harm>
std::string said_of(Harm harm) {
  const Scratch scratch;
  FakeEncoder().write(scratch.path());
  harm(scratch.path());
  return message_of<FileError>([&] { SentenceEncoder::load(scratch.path()); });
}

TEST(SentenceEncoder, MissingCutAndDamagedFilesAreNamed) {
  EXPECT_EQ(said_of([](const fs::path&) {}), "");
  for (const char* file : {"model.json", "vocab.json", "shard1", "shard2", "shard3"}) {
    const auto removed = said_of([&](const fs::path& at) { fs::remove(at / file); });
    EXPECT_NE(removed.find(file), std::string::npos) << removed;
    const auto cut = said_of(
        [&](const fs::path& at) { fs::resize_file(at / file, fs::file_size(at / file) - 1); });
    EXPECT_NE(cut.find(file), std::string::npos) << cut;
    EXPECT_NE(said_of([&](const fs::path& at) { FakeEncoder::put(at / file, ""); }), "");
  }
  EXPECT_NE(said_of([](const fs::path& at) {
              const auto model = files::read_text(at / "model.json", 1 << 20);
              auto json = nlohmann::json::parse(model);
              json["weightsManifest"][0]["paths"][1] = "../shard2";
              FakeEncoder::put(at / "model.json", json.dump());
            }).find("../shard2"),
            std::string::npos);
}

/// What load() says of an encoder that was changed before it was written.
template <class Change>
std::string said_of_changed(Change change) {
  const Scratch scratch;
  FakeEncoder fake;
  change(fake);
  fake.write(scratch.path());
  return message_of<FileError>([&] { SentenceEncoder::load(scratch.path()); });
}

TEST(SentenceEncoder, EveryArrayIsNeededAndOfItsShape) {
  for (const auto& [name, array] : FakeEncoder().arrays) {
    const auto lost = said_of_changed([&](FakeEncoder& fake) { fake.arrays.erase(name); });
    EXPECT_NE(lost.find(name), std::string::npos) << lost;
    const auto odd = said_of_changed([&](FakeEncoder& fake) {
      FakeArray& changed = fake.arrays[name];
      changed.shape.insert(changed.shape.begin(), 2);
      changed.reals.resize(2 * changed.reals.size());
      changed.integers.resize(2 * changed.integers.size());
    });
    EXPECT_NE(odd.find(name), std::string::npos) << name << ": " << odd;
    if (array.reals.empty()) continue;
    const auto poisoned = said_of_changed([&](FakeEncoder& fake) {
      fake.arrays[name].reals[0] = std::numeric_limits<float>::quiet_NaN();
    });
    EXPECT_NE(poisoned.find(name), std::string::npos) << poisoned;
  }
}

TEST(SentenceEncoder, NumbersThatMakeNoEncoderAreErrors) {
  const auto set = [](const std::string& ending, std::int32_t value) {
    return said_of_changed([&](FakeEncoder& fake) {
      for (auto& [name, array] : fake.arrays)
        if (name.ends_with(ending)) array.integers[0] = value;
    });
  };
  EXPECT_NE(set("Reshape/shape/2", 0), "");
  EXPECT_NE(set("Reshape/shape/2", 5), "") << "does not divide the channels";
  EXPECT_NE(set("Less/y", 0), "");
  EXPECT_NE(set("Less/y", std::numeric_limits<std::int32_t>::max()), "");
  EXPECT_NE(said_of_changed([](FakeEncoder& fake) {
              fake.vocabulary.push_back({"more", -1.0});
            }).find("vocab.json"),
            std::string::npos);
}

// expected.json is what the package itself answers: tests/data/embed/make.mjs.
TEST(SentenceEncoder, EqualsItsOwnPackage) {
  const fs::path folder = embed_folder();
  if (!fs::exists(folder / "model.json"))
    GTEST_SKIP() << "the weights are not in the cache; fetch them with: attn data embed";
  const auto encoder = SentenceEncoder::load(folder);
  const nlohmann::json expected = files::read_json(ATTN_TEST_DATA "/embed/expected.json");
  std::vector<std::string> texts;
  for (const auto& entry : expected["texts"]) texts.push_back(entry["text"]);
  EXPECT_GE(texts.size(), 60u);
  for (const char* part : {"texts", "tokens"})
    for (const auto& entry : expected[part])
      EXPECT_EQ(encoder.pieces(entry["text"].get<std::string>()), entry["pieces"].get<Ids>())
          << entry["text"];
  const Tensor got = encoder.encode(texts);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto row = got.select(0, static_cast<std::int64_t>(i)).to_vector<float>();
    const auto want = expected["texts"][i]["vector"].get<std::vector<float>>();
    ASSERT_EQ(row.size(), want.size());
    float worst = 0.0f;
    for (std::size_t c = 0; c < row.size(); ++c)
      worst = std::max(worst, std::fabs(row[c] - want[c]));
    EXPECT_LE(worst, 1e-5f) << texts[i];
  }
}

}  // namespace
}  // namespace attn::tasks
