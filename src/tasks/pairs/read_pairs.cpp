#include "attn/tasks/pairs/read_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/text/sha256.hpp"
#include "tasks/pairs/parse_pairs.hpp"
#include "tasks/split_place.hpp"
#include "tasks/tell.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 30;

enum class Part { train, development, test };

void validate(const PairOptions& options) {
  const auto is_share = [](double share) { return share >= 0.0 && share < 1.0; };
  if (!is_share(options.development) || !is_share(options.test) ||
      options.development + options.test >= 1.0)
    fail("attn::tasks::read_pairs: shares of development ", options.development, " and test ",
         options.test, "; each must be at least 0 and their sum below 1");
}

/// Sources in the order of their hashes: the first are test, the next development. Counts are
/// exact, so that a small file has something in every part that was asked for.
std::unordered_map<std::string, Part> parts_of(const std::vector<Example>& pairs,
                                               const PairOptions& options,
                                               const std::string& where) {
  std::unordered_map<std::string, Part> parts;
  for (const Example& pair : pairs) parts.emplace(pair.source, Part::train);
  std::vector<std::pair<std::uint64_t, std::string_view>> order;
  order.reserve(parts.size());
  for (const auto& [source, part] : parts)
    order.emplace_back(split_hash(source, options.seed), source);
  std::sort(order.begin(), order.end());

  const auto count = [&](double share) {
    const auto exact = share * static_cast<double>(order.size());
    return share > 0.0 ? std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(exact)))
                       : std::size_t{0};
  };
  const std::size_t test = count(options.test);
  const std::size_t development = count(options.development);
  if (test + development >= order.size())
    fail<FileError>(where, ": ", order.size(), " different sources; ", test,
                    " for the test and ", development,
                    " for development leave none to learn from");
  for (std::size_t i = 0; i < test + development; ++i)
    parts[std::string(order[i].second)] = i < test ? Part::test : Part::development;
  return parts;
}

/// One example a source, with all its targets, in the order of first appearance.
std::vector<Example> merged(std::vector<Example> pairs) {
  std::vector<Example> out;
  std::unordered_map<std::string, std::size_t> places;
  for (Example& pair : pairs) {
    const auto [place, is_new] = places.emplace(pair.source, out.size());
    if (is_new) {
      out.push_back(std::move(pair));
      continue;
    }
    std::vector<std::string>& targets = out[place->second].targets;
    for (std::string& target : pair.targets)
      if (std::find(targets.begin(), targets.end(), target) == targets.end())
        targets.push_back(std::move(target));
  }
  return out;
}

}  // namespace

Corpus read_pairs(const fs::path& path, const PairOptions& options, const Say& say) {
  validate(options);
  const std::string where = files::path_text(path);
  tell(say, "reading " + where);
  const std::string text = files::read_text(path, kMostBytes);
  std::vector<Example> pairs = parse_pairs(text, path, options);
  const auto parts = parts_of(pairs, options, where);

  Corpus corpus{.name = path.filename().string(),
                .train = {},
                .development = {},
                .test = {},
                .notes = {}};
  corpus.file = std::filesystem::absolute(path).lexically_normal();
  corpus.checksum = text::sha256_hex(std::as_bytes(std::span(text)));
  for (Example& pair : pairs) {
    const Part part = parts.at(pair.source);
    (part == Part::test          ? corpus.test
     : part == Part::development ? corpus.development
                                 : corpus.train)
        .push_back(std::move(pair));
  }
  corpus.development = merged(std::move(corpus.development));
  corpus.test = merged(std::move(corpus.test));
  return corpus;
}

}  // namespace attn::tasks
