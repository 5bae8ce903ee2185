#include "tools/attn/training_end.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "attn/core/error.hpp"
#include "attn/tasks/learner.hpp"
#include "tasks/scratch.hpp"
#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

std::string complaint_about(const std::filesystem::path& folder, tasks::Resume resume) {
  return tasks::message_of<FileError>([&] { check_training_folder(folder, resume); });
}

TEST(TrainingFolder, AModelIsNeverWrittenOver) {
  for (const char* part : {"config.json", "model.safetensors"}) {
    const tasks::Scratch folder;
    EXPECT_EQ(complaint_about(folder.path(), tasks::Resume::no), "");
    folder.write("training.json", "{}");  // of a run that ended before it had a model
    EXPECT_EQ(complaint_about(folder.path(), tasks::Resume::no), "");
    folder.write(part, "a model");
    EXPECT_NE(complaint_about(folder.path(), tasks::Resume::no)
                  .find("holds a model already; name another folder"),
              std::string::npos);
    EXPECT_NE(complaint_about(folder.path(), tasks::Resume::yes).find("no checkpoint"),
              std::string::npos);
    folder.write("checkpoint.safetensors", "a training");
    EXPECT_EQ(complaint_about(folder.path(), tasks::Resume::yes), "");
    EXPECT_NE(complaint_about(folder.path(), tasks::Resume::no).find("--resume"),
              std::string::npos);
  }
}

TEST(TrainingFolder, TheCommandsThatTrainLeaveAModelAsItIs) {
  for (const char* task : {"pronounce", "caption"}) {
    const tasks::Scratch folder;
    folder.write("config.json", "mine");
    const Said said = say({"train", task, "--out", folder.path(), "--steps", "1"});
    EXPECT_EQ(said.status, failure);
    EXPECT_NE(said.err.find("holds a model already"), std::string::npos) << said.err;
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "training.json"));
  }
}

TEST(ShellWord, IsQuotedWhereAShellWouldCutIt) {
  EXPECT_EQ(shell_word("a/b-c_1.2"), "a/b-c_1.2");
  EXPECT_EQ(shell_word("città"), "città");
  EXPECT_EQ(shell_word("my model"), "'my model'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(TrainingEndText, HintsCanBeTyped) {
  const Streams streams{std::tmpfile(), std::tmpfile()};
  tasks::Trained trained;
  trained.best = {{"PER", 5.0}};
  tell_end_of_training("pronounce", "my model", "my pairs.tsv", trained, streams);
  const std::string out = content(streams.out);
  content(streams.err);
  EXPECT_NE(out.find("attn eval pronounce --model 'my model' --data 'my pairs.tsv'\n"),
            std::string::npos)
      << out;
  EXPECT_NE(out.find("attn train pronounce --out 'my model' --resume"), std::string::npos)
      << out;
}

}  // namespace
}  // namespace attn::tools
