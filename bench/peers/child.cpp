// A contender in a program of its own, so that its libraries never load into ours. One request
// a line, one JSON object a line back:
//
//   run PROBLEM THREADS CALLS    {"seconds": s}              mean of CALLS calls
//   check PROBLEM THREADS FILE   {"tensors": [["out", n]]}   float32 of each, in turn, in FILE
//   memory PROBLEM THREADS       {"seconds": s, "extra_bytes": b}   beyond inputs and outputs
//
// or {"error": "..."}.

// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "contender.hpp"
#include "data.hpp"
#include "peers/peers.hpp"
#include "peers/process.hpp"
#include "problem.hpp"

namespace attn::bench {
namespace {

using Json = nlohmann::json;

Json ask(Process& process, const std::string& request) {
  process.send(request);
  // Libraries sometimes write to standard output too; an answer is a line that is an object.
  while (true) {
    Json answer = Json::parse(process.receive(), nullptr, false);
    if (!answer.is_object()) continue;
    if (answer.contains("error")) throw std::runtime_error(answer["error"].get<std::string>());
    return answer;
  }
}

std::string words(const std::string& verb, const Problem& problem, int threads) {
  return verb + " " + name(problem) + " " + std::to_string(threads);
}

class ChildContender : public Contender {
 public:
  ChildContender(std::shared_ptr<Process> process, const Problem& problem, int threads)
      : process_(std::move(process)), problem_(problem), threads_(threads) {
    if (threads > 1) {
      // Its best thread count, up to what the row grants.
      threads_ = 1;
      const double one = seconds(1);
      threads_ = threads;
      if (one < seconds(1)) threads_ = 1;
    }
  }

  double seconds(int calls) override {
    const Json answer =
        ask(*process_, words("run", problem_, threads_) + " " + std::to_string(calls));
    return answer.at("seconds").get<double>();
  }

  Witness witness() override {
    const auto path = std::filesystem::temp_directory_path() /
                      ("attn-bench-" + std::to_string(getpid()) + ".f32");
    const Json answer =
        ask(*process_, words("check", problem_, threads_) + " " + path.string());
    Witness witness;
    std::ifstream file(path, std::ios::binary);
    for (const auto& tensor : answer.at("tensors")) {
      std::vector<float> values(tensor.at(1).get<std::size_t>());
      file.read(reinterpret_cast<char*>(values.data()),
                static_cast<std::streamsize>(values.size() * sizeof(float)));
      if (!file) throw std::runtime_error("the file of results is short");
      witness[tensor.at(0).get<std::string>()] = std::move(values);
    }
    std::filesystem::remove(path);
    return witness;
  }

 private:
  std::shared_ptr<Process> process_;
  Problem problem_;
  int threads_;
};

}  // namespace

Peer child_peer(std::string name, std::string about, const std::vector<std::string>& command,
                const std::vector<std::string>& environment) {
  // Started at the first need, kept for the rows that follow.
  auto process = std::make_shared<std::shared_ptr<Process>>();
  Peer peer;
  peer.name = std::move(name);
  peer.about = std::move(about);
  peer.serves = [](const Problem&) { return true; };
  peer.enter = [=](const Problem& problem, const Data&, const Setting& setting) {
    if (!*process) *process = std::make_shared<Process>(command, environment);
    return std::make_unique<ChildContender>(*process, problem, setting.threads);
  };
  peer.once = [=](const Problem& problem, const Setting& setting, Check) {
    Process fresh(command, environment);
    const Json answer = ask(fresh, words("memory", problem, setting.threads));
    return Once{answer.at("seconds").get<double>(),
                answer.at("extra_bytes").get<std::int64_t>()};
  };
  return peer;
}

}  // namespace attn::bench
