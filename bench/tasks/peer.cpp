// SPDX-License-Identifier: Apache-2.0

#include "tasks/peer.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tasks/job.hpp"

namespace attn::bench {

DecodingPeer::DecodingPeer(const std::vector<std::string>& command, std::filesystem::path file,
                           int threads)
    : process_(command, {}), file_(std::move(file)), threads_(threads) {}

std::string DecodingPeer::ask(const std::string& verb, const std::string& rest) {
  process_.send(verb + " " + file_.string() + " " + std::to_string(threads_) + rest);
  // Libraries sometimes write to standard output too; an answer is a line that is an object.
  while (true) {
    std::string line = process_.receive();
    const auto answer = nlohmann::json::parse(line, nullptr, false);
    if (!answer.is_object()) continue;
    if (answer.contains("error")) throw std::runtime_error(answer["error"].get<std::string>());
    return line;
  }
}

double DecodingPeer::seconds(int calls) {
  return nlohmann::json::parse(ask("run", " " + std::to_string(calls)))
      .at("seconds")
      .get<double>();
}

std::vector<Tokens> DecodingPeer::answers() {
  return nlohmann::json::parse(ask("check", "")).at("answers").get<std::vector<Tokens>>();
}

NamedCommand named_command(const std::string& text) {
  const auto equals = text.find('=');
  NamedCommand made;
  if (equals != std::string::npos) {
    made.name = text.substr(0, equals);
    std::istringstream rest(text.substr(equals + 1));
    for (std::string word; rest >> word;) made.command.push_back(word);
  }
  if (made.name.empty() || made.command.empty())
    throw std::invalid_argument("--peer '" + text + "': expected name=command");
  return made;
}

}  // namespace attn::bench
