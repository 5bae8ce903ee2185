#include "tasks/remember/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "attn/tensor/random.hpp"

namespace attn::tasks::remember {
namespace {

/// Words of some tasks; each may have several forms.
struct Group {
  std::vector<std::int64_t> tasks;
  std::vector<std::vector<std::string>> words;
};

/// Those of the twenty tasks. Left out is what means something: who is hungry goes to the
/// kitchen (20), and a box holds what is smaller (18).
const std::vector<Group>& groups() {
  static const std::vector<Group> kGroups{
      {{1, 2, 3, 6, 7, 8, 9, 12, 13}, {{"mary"}, {"sandra"}, {"john"}, {"daniel"}}},
      // She and he tell of them, too.
      {{11}, {{"mary"}, {"sandra"}}},
      {{11}, {{"john"}, {"daniel"}}},
      {{5}, {{"bill"}, {"fred"}, {"jeff"}, {"mary"}}},
      {{10, 14}, {{"bill"}, {"fred"}, {"julie"}, {"mary"}}},
      {{15}, {{"gertrude"}, {"emily"}, {"jessica"}, {"winona"}}},
      {{16}, {{"bernhard"}, {"brian"}, {"greg"}, {"julius"}, {"lily"}}},
      {{16}, {{"frog"}, {"lion"}, {"rhino"}, {"swan"}}},
      {{16}, {{"gray"}, {"green"}, {"white"}, {"yellow"}}},
      {{17}, {{"blue"}, {"pink"}, {"red"}, {"yellow"}}},
      {{17}, {{"rectangle"}, {"sphere"}, {"square"}, {"triangle"}}},
      {{17}, {{"above"}, {"below"}}},
      {{17}, {{"left"}, {"right"}}},
      {{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 19},
       {{"bathroom"}, {"bedroom"}, {"garden"}, {"hallway"}, {"kitchen"}, {"office"}}},
      {{10, 14}, {{"bedroom"}, {"cinema"}, {"kitchen"}, {"office"}, {"park"}, {"school"}}},
      {{2, 3, 5, 6, 7, 8}, {{"apple"}, {"football"}, {"milk"}}},
      {{4, 19}, {{"north", "n"}, {"south", "s"}}},
      {{4, 19}, {{"east", "e"}, {"west", "w"}}},
  };
  return kGroups;
}

}  // namespace

Exchanged exchange(std::int64_t task, Random& random) {
  Exchanged words;
  for (const Group& group : groups()) {
    if (std::find(group.tasks.begin(), group.tasks.end(), task) == group.tasks.end()) continue;
    std::vector<std::size_t> order(group.words.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.next() % i]);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (std::size_t form = 0; form < group.words[i].size(); ++form)
        words.emplace(group.words[i][form], group.words[order[i]][form]);
  }
  return words;
}

std::string exchanged(const std::string& answer, const Exchanged& words) {
  std::string out;
  for (std::size_t begin = 0; begin <= answer.size();) {
    const std::size_t end = std::min(answer.find(',', begin), answer.size());
    const std::string word = answer.substr(begin, end - begin);
    const auto at = words.find(word);
    out += (begin == 0 ? "" : ",") + (at == words.end() ? word : at->second);
    begin = end + 1;
  }
  return out;
}

}  // namespace attn::tasks::remember
