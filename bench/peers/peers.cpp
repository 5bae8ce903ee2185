// SPDX-License-Identifier: Apache-2.0

#include "peers/peers.hpp"

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "contender.hpp"
#include "data.hpp"
#include "machine/memory.hpp"
#include "oracle.hpp"
#include "peers/process.hpp"
#include "problem.hpp"

namespace attn::bench {
namespace {

std::filesystem::path own_path() {
  return std::filesystem::read_symlink("/proc/self/exe");
}

void add_libtorch(std::vector<Peer>& peers) {
  const auto program = own_path().parent_path() / "attn-bench-libtorch";
  if (!std::filesystem::exists(program)) return;
  peers.push_back(child_peer("libtorch", "libtorch, eager", {program.string()}, {}));
  // Eager attention asks for the same large blocks again and again; glibc gives each back to
  // the kernel and takes it again, page by page. These settings keep them.
  peers.push_back(child_peer(
      "libtorch-tuned", "libtorch, eager, an allocator that never gives memory back",
      {program.string()},
      {"MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=-1", "MALLOC_TOP_PAD_=268435456"}));
}

Peer extra_peer(const std::string& text) {
  const auto equals = text.find('=');
  std::vector<std::string> command;
  if (equals != std::string::npos) {
    std::istringstream rest(text.substr(equals + 1));
    for (std::string word; rest >> word;) command.push_back(word);
  }
  if (equals == 0 || command.empty()) {
    throw std::invalid_argument("--peer '" + text + "': expected name=command");
  }
  return child_peer(text.substr(0, equals), text.substr(equals + 1), command, {});
}

}  // namespace

std::vector<Peer> peers(const std::vector<std::string>& extra) {
  std::vector<Peer> peers{attn_peer(), unfused_peer()};
  add_libtorch(peers);
  for (const auto& text : extra) peers.push_back(extra_peer(text));
  return peers;
}

Once once_here(const Peer& peer, const Problem& problem, const Setting& setting, Check check) {
  const Data data = make_data(problem);
  const auto contender = peer.enter(problem, data, setting);
  Once once;
  once.extra_bytes = peak_beyond([&] { once.seconds = contender->seconds(1); });
  if (check == Check::yes) once.error = error(contender->witness(), oracle(problem, data));
  return once;
}

Once once_in_child(const std::string& peer, const Problem& problem, const Setting& setting,
                   Check check) {
  std::vector<std::string> command{own_path().string(),
                                   "--once",
                                   peer,
                                   "--problem",
                                   name(problem),
                                   "--threads",
                                   std::to_string(setting.threads),
                                   "--target",
                                   setting.set};
  if (check == Check::yes) command.emplace_back("--check");
  Process process(command, {});
  const auto answer = nlohmann::json::parse(process.receive());
  if (answer.contains("error")) throw std::runtime_error(answer["error"].get<std::string>());
  return {answer.at("seconds").get<double>(), answer.at("extra_bytes").get<std::int64_t>(),
          answer.at("error_norm").get<double>()};
}

}  // namespace attn::bench
