#include "tasks/debian/kept_candidates.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/index.hpp"
#include "attn/tasks/debian/split.hpp"
#include "attn/tasks/fetch/cache.hpp"

namespace attn::tasks {
namespace {

// Raised when the way candidates are made changes, so that older ones are made again.
constexpr const char* kVersion = "1";

}  // namespace

std::string text_of(const KeptCandidates& kept) {
  std::string text = kept.release + "\n";
  for (const auto& [example, package] : kept.candidates)
    ((((((((text += example.id) += '\t') += package) += '\t') += example.source) += '\t') +=
      example.targets[0]) += '\n');
  return text;
}

KeptCandidates candidates_from(std::string_view text) {
  KeptCandidates kept;
  kept.release = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.size(), kept.release.size() + 1));
  kept.candidates.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    std::array<std::string_view, 3> fields;
    for (std::string_view& field : fields) {
      const std::size_t tab = line.find('\t');
      if (tab == std::string_view::npos)
        fail<FileError>("a row of candidates has too few fields");
      field = line.substr(0, tab);
      line.remove_prefix(tab + 1);
    }
    kept.candidates.push_back(
        {{std::string(fields[0]), std::string(fields[2]), {std::string(line)}},
         std::string(fields[1])});
  }
  return kept;
}

KeptCandidates kept_candidates(
    const std::string& name, const std::string& language,
    const std::function<std::vector<Candidate>(const DebianIndex&)>& make, const Say& say) {
  const std::filesystem::path path =
      cache_folder() / "debian-12" / (name + "-candidates-" + kVersion);
  if (const auto text = read_sealed(path)) return candidates_from(*text);
  const DebianIndex index = load_debian(language, say);
  KeptCandidates kept{index.release, make(index)};
  write_sealed(path, text_of(kept));
  return kept;
}

}  // namespace attn::tasks
