// Makes the list of a split anew: by source package, far from what is trained on.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/split.hpp"
#include "attn/tasks/neighbours.hpp"
#include "tasks/split_place.hpp"
#include "tasks/tell.hpp"

namespace attn::tasks {
namespace {

/// The candidates of a source package, by their places.
struct Package {
  std::string_view name;
  std::vector<std::size_t> members;
};

std::vector<Package> packages_of(const std::vector<Candidate>& candidates) {
  std::unordered_map<std::string_view, std::size_t> places;
  std::vector<Package> packages;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const auto [place, is_new] = places.emplace(candidates[i].package, packages.size());
    if (is_new) packages.push_back({candidates[i].package, {}});
    packages[place->second].members.push_back(i);
  }
  std::sort(packages.begin(), packages.end(), [](const Package& a, const Package& b) {
    return std::pair(split_hash(a.name), a.name) < std::pair(split_hash(b.name), b.name);
  });
  return packages;
}

/// The sources of everything from package `first` on, each once.
std::vector<std::string> sources_from(const std::vector<Candidate>& candidates,
                                      const std::vector<Package>& packages, std::size_t first) {
  std::unordered_set<std::string_view> seen;
  std::vector<std::string> sources;
  for (std::size_t p = first; p < packages.size(); ++p)
    for (const std::size_t i : packages[p].members)
      if (seen.insert(candidates[i].example.source).second)
        sources.push_back(candidates[i].example.source);
  return sources;
}

/// Which members of packages [0, held) are far from everything behind them.
std::vector<std::vector<std::size_t>> far_members(const std::vector<Candidate>& candidates,
                                                  const std::vector<Package>& packages,
                                                  std::size_t held,
                                                  const SplitOptions& options) {
  const Neighbours train(sources_from(candidates, packages, held));
  std::unordered_set<std::string_view> seen;
  std::vector<std::vector<std::size_t>> far(held);
  for (std::size_t p = 0; p < held; ++p)
    for (const std::size_t i : packages[p].members) {
      if (far[p].size() == options.per_package) break;
      const std::string& source = candidates[i].example.source;
      if (seen.insert(source).second && train.nearest(source).cosine <= options.cosine)
        far[p].push_back(i);
    }
  return far;
}

}  // namespace

std::string make_split(const std::vector<Candidate>& candidates, const std::string& release,
                       const SplitOptions& options, const Say& say) {
  const std::vector<Package> packages = packages_of(candidates);
  const std::size_t all = sources_from(candidates, packages, 0).size();
  const std::size_t test = std::min(options.test, all / 20);
  const std::size_t development = std::min(options.development, all / 40);

  for (std::size_t held = packages.size() / 40 + 2; held < packages.size() / 2;
       held += held / 3 + 1) {
    const auto far = far_members(candidates, packages, held, options);
    std::size_t found = 0;
    for (const auto& members : far) found += members.size();
    tell(say, std::to_string(held) + " of " + std::to_string(packages.size()) +
                  " source packages held out give " + std::to_string(found) + " examples of " +
                  std::to_string(test + development));
    if (found < test + development) continue;

    std::string list = "# Debian " + release + "\n";
    std::size_t taken = 0;
    for (std::size_t p = 0; p < held; ++p) {
      // A package is wholly in one part: the change comes between two packages.
      const char* part = taken < test                 ? "test"
                         : taken < test + development ? "development"
                                                      : "left-out";
      std::string rows;
      if (taken < test + development)
        for (const std::size_t i : far[p])
          rows += candidates[i].example.id + "\t" + std::string(packages[p].name) + "\t" +
                  part + "\n";
      if (rows.empty()) rows = "-\t" + std::string(packages[p].name) + "\tleft-out\n";
      if (taken < test + development) taken += far[p].size();
      list += rows;
    }
    return list;
  }
  fail("attn::tasks::make_split: ", candidates.size(), " candidates of ", packages.size(),
       " packages are too few or too alike to hold out ", test + development);
}

}  // namespace attn::tasks
