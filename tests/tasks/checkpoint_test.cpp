#include "attn/tasks/checkpoint.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "attn/core/error.hpp"
#include "attn/files/safetensors.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

/// What is said of a checkpoint with one member of its state changed; "" when it is accepted.
std::string complaint_of(const char* member, const nlohmann::json& value) {
  const Scratch folder;
  const std::filesystem::path path = folder.path() / "checkpoint.safetensors";
  TrainingState saved;
  saved.steps = 7;
  saved.batch = 2;
  save_checkpoint(path, saved, "toy", {});
  files::Metadata metadata = files::read_safetensors(path).metadata();
  auto state = nlohmann::json::parse(metadata.at("training"));
  state[member] = value;
  metadata["training"] = state.dump();
  files::write_safetensors(path, {}, metadata);
  return message_of<FileError>([&] { load_checkpoint(path, "toy", {}); });
}

TEST(Checkpoint, CountsThatNoRunHasAreDamage) {
  EXPECT_EQ(complaint_of("steps", 8), "");
  for (const char* member :
       {"steps", "epoch", "batch", "loss_count", "tokens", "best_step", "without_better"})
    for (const std::int64_t value : {std::int64_t{-3}, std::int64_t{1} << 62}) {
      const std::string said = complaint_of(member, value);
      EXPECT_NE(said.find("is damaged: " + std::string(member)), std::string::npos) << said;
      EXPECT_NE(said.find("checkpoint.safetensors"), std::string::npos) << said;
    }
}

TEST(Checkpoint, AKeyIsANumberOf64Bits) {
  EXPECT_EQ(complaint_of("random_key", "18446744073709551615"), "");
  for (const char* digits : {"", "99999999999999999999", "-1", "12x", " 1"}) {
    const std::string said = complaint_of("random_key", digits);
    EXPECT_NE(said.find("is damaged: random_key"), std::string::npos) << said;
  }
}

TEST(Checkpoint, OfAnotherTrainingItTellsWhatDiffersAlone) {
  const Scratch folder;
  const std::filesystem::path path = folder.path() / "checkpoint.safetensors";
  const std::string was = R"({"model": {"dim": 64, "heads": 4}, "task": "translate"})";
  const std::string is =
      R"({"model": {"dim": 32, "heads": 4}, "pairs": 7, "task": "translate"})";
  save_checkpoint(path, {}, was, {});
  const auto complaint = [&](const std::string& what) {
    return message_of<InvalidArgument>([&] { load_checkpoint(path, what, {}); });
  };
  const std::string said = complaint(is);
  EXPECT_NE(said.find("model.dim was 64 and is 32 here"), std::string::npos) << said;
  EXPECT_NE(said.find("pairs was nothing and is 7 here"), std::string::npos) << said;
  EXPECT_EQ(said.find("heads"), std::string::npos) << said;
  EXPECT_EQ(said.find("translate"), std::string::npos) << said;
  const std::string precise = complaint("bf16 " + was);
  EXPECT_NE(precise.find("precision was \"f32\" and is \"bf16\" here"), std::string::npos)
      << precise;
  EXPECT_NE(complaint("{no JSON").find("another training"), std::string::npos);
  EXPECT_NE(complaint("words").find("words"), std::string::npos);
}

TEST(Differences, OfEqualObjectsThereAreNone) {
  const nlohmann::json one{{"a", 1}, {"b", {{"c", 0.5}}}};
  EXPECT_EQ(differences(one, nlohmann::json::parse(one.dump())), "");
  EXPECT_NE(differences(one, {{"a", 1}}).find("b.c was 0.5 and is nothing here"),
            std::string::npos);
}

}  // namespace
}  // namespace attn::tasks
