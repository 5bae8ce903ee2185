#include "attn/tasks/debian/split.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/neighbours.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks {
namespace {

struct List {
  std::string_view release;
  std::unordered_set<std::string_view> test;
  std::unordered_set<std::string_view> development;
  std::unordered_set<std::string_view> packages;
};

List parse(std::string_view text, const std::string& name) {
  constexpr std::string_view kRelease = "# Debian ";
  List list;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.starts_with(kRelease)) list.release = line.substr(kRelease.size());
    if (line.empty() || line.front() == '#') continue;
    const std::size_t first = line.find('\t');
    const std::size_t second = line.find('\t', first + 1);
    const bool whole = first != std::string_view::npos && second != std::string_view::npos;
    const std::string_view part = whole ? line.substr(second + 1) : "";
    if (part != "test" && part != "development" && part != "left-out")
      fail<FileError>("split ", name, ", line ", number, ": ", files::in_quotes(line),
                      "; accepted is id<TAB>package<TAB>test, development or left-out");
    list.packages.insert(line.substr(first + 1, second - first - 1));
    if (part == "test") list.test.insert(line.substr(0, first));
    if (part == "development") list.development.insert(line.substr(0, first));
  }
  return list;
}

std::string remaining(const char* part, std::size_t found, std::size_t listed) {
  return std::string(part) + ": " + std::to_string(found) + " of the " +
         std::to_string(listed) + " examples of the split are in this index";
}

struct Shipped {
  std::string_view name;
  std::string_view text;
};

// Made from data/splits by cmake/AttnSplits.cmake; the last row keeps the array from being
// empty.
const Shipped kShipped[] = {
#include "splits.inc"
    {"", ""}};

constexpr std::size_t kTestExamples = 2000;
constexpr std::size_t kDevelopmentExamples = 1000;
constexpr double kNear = 0.7;  ///< a held-out source nearer to a training source is dropped
constexpr std::size_t kMostOfAPackage = 25;  ///< so that no large package is the test

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
                                                  std::size_t held) {
  const Neighbours train(sources_from(candidates, packages, held));
  std::unordered_set<std::string_view> seen;
  std::vector<std::vector<std::size_t>> far(held);
  for (std::size_t p = 0; p < held; ++p)
    for (const std::size_t i : packages[p].members) {
      if (far[p].size() == kMostOfAPackage) break;
      const std::string& source = candidates[i].example.source;
      if (seen.insert(source).second && train.nearest(source).cosine <= kNear)
        far[p].push_back(i);
    }
  return far;
}

}  // namespace

std::string make_split(const std::vector<Candidate>& candidates, const std::string& release,
                       const Say& say) {
  const std::vector<Package> packages = packages_of(candidates);
  const std::size_t all = sources_from(candidates, packages, 0).size();
  const std::size_t test = std::min(kTestExamples, all / 20);
  const std::size_t development = std::min(kDevelopmentExamples, all / 40);

  for (std::size_t held = packages.size() / 40 + 2; held < packages.size() / 2;
       held += held / 3 + 1) {
    const auto far = far_members(candidates, packages, held);
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

Corpus apply_split(std::vector<Candidate> candidates, std::string_view list_text,
                   const std::string& release, const std::string& name) {
  const List list = parse(list_text, name);
  Corpus corpus{.name = name, .train = {}, .development = {}, .test = {}, .notes = {}};
  std::unordered_set<std::string> seen;
  for (Candidate& candidate : candidates) {
    Example& example = candidate.example;
    const bool tests = list.test.contains(example.id);
    if (!tests && !list.development.contains(example.id)) continue;
    if (!seen.insert(example.source).second) continue;
    (tests ? corpus.test : corpus.development).push_back(std::move(example));
    candidate.package.clear();  // says that it was taken
  }
  for (Candidate& candidate : candidates) {
    Example& example = candidate.example;
    if (candidate.package.empty() || list.packages.contains(candidate.package)) continue;
    if (seen.insert(example.source).second) corpus.train.push_back(std::move(example));
  }
  corpus.notes.push_back(remaining("test", corpus.test.size(), list.test.size()));
  corpus.notes.push_back(
      remaining("development", corpus.development.size(), list.development.size()));
  if (release != list.release)
    corpus.notes.push_back("the index is of Debian " + release + ", the split of Debian " +
                           std::string(list.release) +
                           "; descriptions changed in between are in no list");
  return corpus;
}

std::string_view shipped_split(std::string_view name) {
  std::string names;
  for (const Shipped& shipped : kShipped) {
    if (!name.empty() && shipped.name == name) return shipped.text;
    names += " " + std::string(shipped.name);
  }
  fail("attn::tasks::shipped_split: no split \"", std::string(name), "\"; there are:", names);
}

}  // namespace attn::tasks
