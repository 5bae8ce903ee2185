// SPDX-License-Identifier: Apache-2.0

#include "problem.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace attn::bench {
namespace {

struct Head {
  std::string_view word;
  Family family;
  Pass pass;
  Keep keep;
};

constexpr std::array kHeads{
    Head{"forward", Family::dot, Pass::forward, Keep::all},
    Head{"backward", Family::dot, Pass::backward, Keep::all},
    Head{"both", Family::dot, Pass::both, Keep::all},
    Head{"forward_causal", Family::dot, Pass::forward, Keep::causal},
    Head{"backward_causal", Family::dot, Pass::backward, Keep::causal},
    Head{"both_causal", Family::dot, Pass::both, Keep::causal},
    Head{"forward_window", Family::dot, Pass::forward, Keep::window},
    Head{"backward_window", Family::dot, Pass::backward, Keep::window},
    Head{"both_window", Family::dot, Pass::both, Keep::window},
    Head{"additive_forward", Family::additive, Pass::forward, Keep::all},
    Head{"additive_both", Family::additive, Pass::both, Keep::all},
};

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw std::invalid_argument("problem '" + std::string(text) + "': " + std::string(why) +
                              "; expected for example forward_causal/b:1/h:8/n:4096/d:64");
}

std::int64_t* field(Problem& problem, char key) {
  switch (key) {
    case 'b':
      return &problem.batch;
    case 'h':
      return &problem.heads;
    case 'n':
      return &problem.queries;
    case 'm':
      return &problem.keys;
    case 'd':
      return &problem.dim;
    case 'w':
      return &problem.window;
    default:
      return nullptr;
  }
}

std::string_view next_part(std::string_view& rest) {
  const auto slash = rest.find('/');
  const auto part = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  return part;
}

}  // namespace

std::string name(const Problem& p) {
  const auto* head = std::find_if(kHeads.begin(), kHeads.end(), [&](const Head& h) {
    return h.family == p.family && h.pass == p.pass && h.keep == p.keep;
  });
  if (head == kHeads.end()) throw std::invalid_argument("a problem without a name");
  std::string text(head->word);
  text += "/b:" + std::to_string(p.batch);
  if (p.family == Family::dot) text += "/h:" + std::to_string(p.heads);
  text += "/n:" + std::to_string(p.queries);
  if (p.keys != p.queries) text += "/m:" + std::to_string(p.keys);
  text += "/d:" + std::to_string(p.dim);
  if (p.keep == Keep::window) text += "/w:" + std::to_string(p.window);
  return text;
}

Problem parse_problem(std::string_view text) {
  std::string_view rest = text;
  const auto word = next_part(rest);
  const auto* head =
      std::find_if(kHeads.begin(), kHeads.end(), [&](const Head& h) { return h.word == word; });
  if (head == kHeads.end()) refuse(text, "unknown kind");

  Problem problem{.family = head->family, .pass = head->pass, .keep = head->keep};
  problem.keys = 0;
  while (!rest.empty()) {
    const auto part = next_part(rest);
    std::int64_t* value = part.size() > 2 && part[1] == ':' ? field(problem, part[0]) : nullptr;
    if (value == nullptr) refuse(text, "expected key:number");
    const char* const end = part.data() + part.size();
    const auto [stop, code] = std::from_chars(part.data() + 2, end, *value);
    if (code != std::errc() || stop != end || *value <= 0) refuse(text, "a size must be > 0");
  }
  if (problem.keys == 0) problem.keys = problem.queries;
  return problem;
}

Range kept(const Problem& p, std::int64_t i) {
  if (p.keep == Keep::all) return {0, p.keys};
  const std::int64_t last = std::clamp(i + p.keys - p.queries + 1, std::int64_t{0}, p.keys);
  const std::int64_t first = p.keep == Keep::window ? last - p.window : 0;
  return {std::max(first, std::int64_t{0}), last};
}

double kept_pairs(const Problem& p) {
  if (p.keep == Keep::all) return static_cast<double>(p.queries) * static_cast<double>(p.keys);
  std::int64_t pairs = 0;
  for (std::int64_t i = 0; i < p.queries; ++i) {
    const auto [first, last] = kept(p, i);
    pairs += last - first;
  }
  return static_cast<double>(pairs);
}

double work(const Problem& p) {
  const double units = static_cast<double>(p.batch * p.heads * p.dim) * kept_pairs(p);
  if (p.family == Family::additive) return units;
  switch (p.pass) {
    case Pass::forward:
      return 4 * units;
    case Pass::backward:
      return 10 * units;
    case Pass::both:
      return 14 * units;
  }
  return 0;
}

double key_bytes(const Problem& p) {
  return 2.0 * sizeof(float) * static_cast<double>(p.batch * p.heads * p.keys * p.dim);
}

double given_bytes(const Problem& p) {
  const double query = static_cast<double>(p.batch * p.heads * p.queries * p.dim);
  const double key = static_cast<double>(p.batch * p.heads * p.keys * p.dim);
  const double forward = 2 * query + 2 * key;
  const double gradients = p.pass == Pass::forward ? 0 : 2 * query + 2 * key;
  const double weights =
      p.family == Family::additive ? 2.0 * static_cast<double>(p.dim * p.dim) : 0;
  return sizeof(float) * (forward + gradients + weights * (p.pass == Pass::forward ? 1 : 2));
}

}  // namespace attn::bench
