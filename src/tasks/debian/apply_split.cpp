// Sorts descriptions into train, development and test by the list of a split.

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/split.hpp"

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
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
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

}  // namespace

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

}  // namespace attn::tasks
