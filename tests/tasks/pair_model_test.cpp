#include "attn/tasks/pair_model.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/tasks/answer.hpp"
#include "support/tolerance.hpp"
#include "tasks/scratch.hpp"
#include "tasks/support/toy.hpp"

namespace attn::tasks {
namespace {

using Folder = Scratch;

TEST(PairModel, ComesBackAsItWasSaved) {
  const Folder folder;
  const PairModel model = toy::model();
  save_model(folder.path(), model, DType::f32);
  const PairModel loaded = load_model(folder.path());
  EXPECT_EQ(loaded.options, model.options);
  EXPECT_EQ(loaded.source.checksum(), model.source.checksum());
  model.model->eval();
  const std::vector<std::string> words{"abcd", "dd", ""};
  const auto before = answer(model, words, {});
  const auto after = answer(loaded, words, {});
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(before[i][0].text, after[i][0].text);
    EXPECT_EQ(before[i][0].weights, after[i][0].weights);
  }
  EXPECT_EQ(after[2][0].text, "") << "nothing to read, nothing to say";
}

TEST(PairModel, AVocabularyThatIsNotTheWeightsOwnIsRefused) {
  const Folder folder;
  save_model(folder.path(), toy::model());
  // The same size, another order.
  const std::string path = folder.path() / "source.vocab";
  std::ifstream in(path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  in.close();
  const auto a = text.rfind("\na");
  const auto b = text.rfind("\nb");
  ASSERT_NE(a, std::string::npos);
  ASSERT_NE(b, std::string::npos);
  std::swap(text[a + 1], text[b + 1]);
  std::ofstream(path) << text;
  EXPECT_THROW(load_model(folder.path()), FileError);
}

TEST(PairModel, DamageAndMissingFilesAreErrorsThatNameTheFile) {
  for (const char* name :
       {"config.json", "source.vocab", "target.vocab", "model.safetensors"}) {
    const Folder folder;
    save_model(folder.path(), toy::model());
    const auto path = folder.path() / name;
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    try {
      load_model(folder.path());
      FAIL() << name << " cut in half was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
    std::filesystem::remove(path);
    EXPECT_THROW(load_model(folder.path()), Error) << name;
  }
}

TEST(PairModel, SizesThatDoNotFitAreRefusedBeforeAModelIsMade) {
  const Folder folder;
  save_model(folder.path(), toy::model());
  auto config = files::read_json(folder.path() / "config.json");
  config["model"]["source_vocabulary"] = 1000000000;
  files::write_json(folder.path() / "config.json", config);
  EXPECT_THROW(load_model(folder.path()), FileError);
}

TEST(PairModel, LayersThatTheWeightsCannotHoldAreRefusedBeforeAModelIsMade) {
  for (const std::int64_t layers : {1024, 100000}) {
    const Folder folder;
    save_model(folder.path(), toy::model());
    auto config = files::read_json(folder.path() / "config.json");
    config["model"]["encoder_layers"] = layers;
    files::write_json(folder.path() / "config.json", config);
    const std::string said = message_of<FileError>([&] { load_model(folder.path()); });
    EXPECT_NE(said.find("config.json"), std::string::npos) << said;
    EXPECT_NE(said.find(std::to_string(layers)), std::string::npos) << said;
    EXPECT_EQ(said.find("attn::"), std::string::npos) << said;
  }
}

TEST(PairModel, WeightsThatAreNotFiniteAreRefusedByName) {
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    const Folder folder;
    const PairModel model = toy::model();
    const auto [name, tensor] = model.model->named_parameters().back();
    tensor.mutable_data<float>()[tensor.numel() - 1] = wrong;
    save_model(folder.path(), model);
    const std::string said = message_of<FileError>([&] { load_model(folder.path()); });
    EXPECT_NE(said.find("model.safetensors"), std::string::npos) << said;
    EXPECT_NE(said.find(name), std::string::npos) << said;
  }
}

TEST(PairModel, AFileInTheWayOfItsFolderIsAnError) {
  const Folder folder;
  folder.write("file", "in the way");
  EXPECT_THROW(save_model(folder.path() / "file" / "below", toy::model()), FileError);
}

TEST(Answer, DoesNotDependOnItsNeighbours) {
  const PairModel model = toy::model();
  model.model->eval();
  const std::vector<std::string> words{"a", "abcdabcd", "dcba", "cc"};
  const auto together = answer(model, words, {.beam = 3, .best = 2});
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto alone =
        answer(model, std::vector<std::string>{words[i]}, {.beam = 3, .best = 2});
    ASSERT_EQ(alone[0].size(), together[i].size());
    for (std::size_t j = 0; j < alone[0].size(); ++j) {
      EXPECT_EQ(alone[0][j].text, together[i][j].text);
      EXPECT_NEAR(alone[0][j].score, together[i][j].score, test::kFloatModel);
      EXPECT_EQ(alone[0][j].weights.size(),
                (alone[0][j].target.size() + 1) * alone[0][j].source.size());
    }
  }
}

}  // namespace
}  // namespace attn::tasks
