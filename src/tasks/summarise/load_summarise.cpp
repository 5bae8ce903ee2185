#include "attn/tasks/summarise/load_summarise.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "attn/files/printable.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"
#include "tasks/debian/boilerplate.hpp"
#include "tasks/debian/description.hpp"
#include "tasks/debian/kept_candidates.hpp"

namespace attn::tasks {
namespace {

constexpr int kFewestWords = 15;
constexpr int kMostWords = 400;
constexpr int kFewestOfSynopsis = 3;
constexpr int kOpening = 25;

std::string joined(std::string_view body) {
  std::string text;
  for (const Paragraph& paragraph : paragraphs_of(body))
    for (const std::string& unit : paragraph) {
      if (!text.empty()) text += ' ';
      text += unit;
    }
  return text;
}

/// The first words: library, headers and documentation of one work begin alike, and differ in a
/// closing sentence alone.
std::string_view opening(std::string_view text) {
  std::size_t end = 0;
  for (int word = 0; word < kOpening && end != std::string_view::npos; ++word)
    end = text.find(' ', end + 1);
  return text.substr(0, end);
}

}  // namespace

std::vector<Candidate> summarise_candidates(const DebianIndex& index) {
  std::vector<Candidate> candidates;
  std::unordered_set<std::string_view> done;
  std::unordered_set<std::string> openings;
  for (const Description& description : index.english) {
    if (is_boilerplate(description) || !done.insert(description.md5).second) continue;
    std::string text = joined(description.body);
    const int words = word_count(text);
    if (words < kFewestWords || words > kMostWords ||
        word_count(description.synopsis) < kFewestOfSynopsis || !files::is_utf8(text) ||
        !files::is_utf8(description.synopsis))
      continue;
    if (!openings.emplace(opening(text)).second) continue;
    candidates.push_back(
        {{std::string(description.md5), std::move(text), {one_line(description.synopsis)}},
         std::string(description.source)});
  }
  return candidates;
}

Corpus load_summarise(const Say& say) {
  KeptCandidates kept = kept_candidates("summarise", "", summarise_candidates, say);
  return apply_split(std::move(kept.candidates), shipped_split("summarise"), kept.release,
                     "Debian package descriptions");
}

}  // namespace attn::tasks
