// The program as a whole: help, version, usage errors, exit statuses.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/attn/command.hpp"
#include "tools/say.hpp"

namespace attn::tools {
namespace {

namespace fs = std::filesystem;

const std::string kCases = ATTN_TEST_DATA "/onnx";

/// A folder that goes away.
class Folder {
 public:
  Folder() : path(fs::temp_directory_path() / ("attn-tools-" + std::to_string(::getpid()))) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  const fs::path path;
};

TEST(Program, HelpTeachesAndVersionIsOneLine) {
  const Said help = say({"--help"});
  EXPECT_EQ(help.status, success);
  for (const char* part : {"conformance", "info", "bench", "Examples:", "score  ->  mask"})
    EXPECT_NE(help.out.find(part), std::string::npos) << part;
  EXPECT_EQ(say({"help"}).out, help.out);
  EXPECT_EQ(say({}).status, success);
  const Said version = say({"--version"});
  EXPECT_EQ(version.status, success);
  EXPECT_EQ(version.out.rfind("attn " ATTN_VERSION " (commit ", 0), 0u) << version.out;
  EXPECT_TRUE(version.out.find(", g++ ") != std::string::npos ||
              version.out.find(", clang ") != std::string::npos)
      << version.out;
  EXPECT_NE(version.out.find(ATTN_HAS_CUDA ? ", with CUDA)\n" : ", without CUDA)\n"),
            std::string::npos)
      << version.out;
  EXPECT_EQ(say({"conformance", "--help"}).status, success);
}

TEST(Program, ConformanceEndsWithItsCount) {
  const Said said = say({"conformance", kCases});
  EXPECT_EQ(said.status, success) << said.out;
  EXPECT_EQ(said.out, "86 passed, 0 failed\n");
  const Said twice = say({"conformance", kCases + "/attention_4d.safetensors", kCases});
  EXPECT_EQ(twice.last_line(), "87 passed, 0 failed");
}

TEST(Program, ConformanceNamesWhatFailed) {
  const Folder folder;
  std::ofstream(folder.path / "broken.safetensors") << "not a case";
  fs::copy(kCases + "/attention_4d.safetensors", folder.path / "fine.safetensors");
  const Said said = say({"conformance", folder.path.string()});
  EXPECT_EQ(said.status, failure);
  EXPECT_EQ(said.last_line(), "1 passed, 1 failed");
  EXPECT_EQ(said.out.rfind("FAILED broken: ", 0), 0u) << said.out;
}

TEST(Program, MissingAndEmptyFoldersAreErrors) {
  const Folder folder;
  for (const std::string& path : {folder.path.string(), std::string("/no/such/folder")}) {
    const Said said = say({"conformance", path});
    EXPECT_EQ(said.status, failure);
    EXPECT_EQ(said.out, "");
    EXPECT_NE(said.err.find(path), std::string::npos) << said.err;
  }
}

TEST(Program, WrongUsageIsTwo) {
  const std::vector<std::vector<std::string>> wrong{{"conformance"},
                                                    {"--nonsense"},
                                                    {"info", "--nonsense"},
                                                    {"info", "more"},
                                                    {"conformance", kCases, "--threads", "0"},
                                                    {"confromance", kCases},
                                                    {"zzz"}};
  for (const auto& arguments : wrong) {
    const Said said = say(arguments);
    EXPECT_EQ(said.status, usage) << arguments[0];
    EXPECT_EQ(said.out, "") << arguments[0];
    EXPECT_NE(said.err, "") << arguments[0];
  }
  EXPECT_NE(say({"confromance"}).err.find("did you mean 'conformance'?"), std::string::npos);
  EXPECT_EQ(say({"zzz"}).err.find("did you mean"), std::string::npos);
}

TEST(Program, HelpOfACommandIsItsHelp) {
  const Said help = say({"help", "translate"});
  EXPECT_EQ(help.status, success);
  EXPECT_EQ(help.out, say({"translate", "--help"}).out);
  EXPECT_NE(help.out.find("--beam"), std::string::npos);
  EXPECT_EQ(say({"help", "summarize"}).out, say({"summarise", "--help"}).out);
  const Said wrong = say({"help", "translte"});
  EXPECT_EQ(wrong.status, usage);
  EXPECT_NE(wrong.err.find("did you mean 'translate'?"), std::string::npos) << wrong.err;
}

TEST(Program, AnUnknownFlagSuggestsTheNearestOfItsCommand) {
  const std::vector<std::vector<std::string>> calls{
      {"data", "translate", "--langauge", "it", "--language"},
      {"data", "--langauge=it", "translate", "--language"},
      {"train", "pronounce", "--minuets", "1", "--out", "x", "--minutes"},
      {"train", "--minuets", "1", "--minutes"},  // whatever else is missing
      {"translate", "word", "--baem", "4", "--beam"},
      {"serve", "--prot", "80", "--port"},
      {"info", "--jsn", "--json"},
      {"--versoin", "--version"}};
  for (const auto& call : calls) {
    const Said said = say({call.begin(), call.end() - 1});
    EXPECT_EQ(said.status, usage) << said.err;
    EXPECT_NE(said.err.find("; did you mean " + call.back() + "?"), std::string::npos)
        << said.err;
  }
  const Said far = say({"info", "--quantise-everything"});
  EXPECT_NE(far.err.find("'attn info --help' lists those there are"), std::string::npos)
      << far.err;
}

TEST(Program, APortIsInItsRange) {
  for (const char* port : {"99999", "-1", "http"}) {
    const Said said = say({"serve", "--port", port});
    EXPECT_EQ(said.status, usage) << port;
    EXPECT_NE(said.err.find("65535"), std::string::npos) << said.err;
  }
}

TEST(Program, ErrorsNameNoFunctionOfTheLibrary) {
  const Said said = say({"score", "wer", "/no/such/answers", "/no/such/references"});
  EXPECT_EQ(said.status, failure);
  EXPECT_TRUE(said.err.starts_with("attn: ")) << said.err;
  EXPECT_NE(said.err.find("/no/such/"), std::string::npos) << said.err;
  EXPECT_EQ(said.err.find("attn::"), std::string::npos) << said.err;
}

TEST(Program, AFolderThatCannotBeMadeIsAnErrorOfOurs) {
  const Folder folder;
  std::ofstream(folder.path / "file") << "in the way";
  std::ofstream csv(folder.path / "a.csv");
  for (int i = 0; i < 20; ++i) csv << i << "," << i * i << "\n";
  csv.close();
  const Said said = say({"regress", (folder.path / "a.csv").string(), "--epochs", "1", "--out",
                         (folder.path / "file" / "below").string()});
  EXPECT_EQ(said.status, failure);
  EXPECT_NE(said.err.find("the folder cannot be made"), std::string::npos) << said.err;
  EXPECT_EQ(said.err.find("filesystem error"), std::string::npos) << said.err;
}

TEST(Program, InfoSaysWhatACallTakes) {
  const Said text = say({"info"});
  EXPECT_EQ(text.status, success);
  for (const char* part :
       {"CPU", "kernels built", "machine runs", "a call takes", "threads", "GPU"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  const Said said = say({"info", "--json"});
  const auto json = nlohmann::json::parse(said.out);
  EXPECT_EQ(json.at("version"), ATTN_VERSION);
  EXPECT_GE(json.at("threads").get<int>(), 1);
  EXPECT_FALSE(json.at("targets_built").empty());
  EXPECT_EQ(json.at("target"), json.at("targets_available").at(0));
}

TEST(Program, OutputThatCannotBeWrittenIsAFailure) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "there is no /dev/full here";
  const Streams streams{full, std::tmpfile()};
  EXPECT_EQ(run({"info"}, streams), failure);
  EXPECT_NE(content(streams.err), "");
  std::fclose(full);
}

TEST(Bench, IsFoundBesideTheProgramOrInBench) {
  const Folder folder;
  const fs::path bin = folder.path / "bin";
  fs::create_directories(bin);
  fs::create_directories(folder.path / "bench");
  EXPECT_FALSE(find_bench(bin));
  std::ofstream(bin / "attn-bench") << "#!/bin/sh\n";
  EXPECT_FALSE(find_bench(bin)) << "it cannot be run";
  const auto make_program = [](const fs::path& path) {
    std::ofstream(path) << "#!/bin/sh\n";
    fs::permissions(path, fs::perms::owner_all);
  };
  make_program(folder.path / "bench" / "attn-bench");
  EXPECT_EQ(fs::canonical(*find_bench(bin)), fs::canonical(folder.path / "bench/attn-bench"));
  make_program(bin / "attn-bench");
  EXPECT_EQ(*find_bench(bin), bin / "attn-bench");
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string> names{"conformance", "info", "bench"};
  EXPECT_EQ(nearest("benhc", names), "bench");
  EXPECT_EQ(nearest("inof", names), "info");
  EXPECT_EQ(nearest("conf", names), "conformance");
  EXPECT_EQ(nearest("quantise", names), std::nullopt);
  EXPECT_EQ(nearest("", names), std::nullopt);
  EXPECT_EQ(nearest(std::string(100000, 'x'), names), std::nullopt);
}

}  // namespace
}  // namespace attn::tools
