// SPDX-License-Identifier: Apache-2.0

#include "tasks/embed/pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/text/unicode.hpp"

namespace attn::tasks {
namespace {

constexpr std::size_t kMarks = 6;
constexpr char32_t kSpace = U'\u2581';  ///< stands for a space, so that pieces can hold one

std::uint64_t edge(std::uint64_t node, char32_t character) {
  constexpr int kCharacterBits = 21;
  return node << kCharacterBits | character;
}

}  // namespace

Pieces::Pieces(const std::vector<Entry>& entries, std::string_view where) {
  if (entries.size() <= kMarks)
    fail<FileError>(where, ": ", entries.size(), " pieces; more than ", kMarks,
                    " are needed, the first ", kMarks, " being marks");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::u32string piece = text::code_points(entries[i].text);
    if (piece.empty()) fail<FileError>(where, ": piece ", i, " is empty");
    steps_.push_back(piece.size() +
                     static_cast<std::size_t>(std::count_if(
                         piece.begin(), piece.end(), [](char32_t c) { return c > 0xFFFF; })));
    if (i >= kMarks) insert(piece, entries[i].score, static_cast<std::int64_t>(i));
  }
}

Pieces Pieces::read(const std::filesystem::path& path) {
  const std::string where = files::path_text(path);
  const nlohmann::json vocabulary = files::read_json(path);
  if (!vocabulary.is_array()) fail<FileError>(where, ": not an array of [piece, score]");
  std::vector<Entry> entries;
  for (const auto& entry : vocabulary) {
    const std::string which = where + ": piece " + std::to_string(entries.size());
    if (!entry.is_array() || entry.size() != 2) fail<FileError>(which, " is not [text, score]");
    entries.push_back({files::to_text(entry[0], which),
                       entry[1].is_null() ? 0.0 : files::to_double(entry[1], which)});
  }
  return {entries, where};
}

void Pieces::insert(std::u32string_view piece, double score, std::int64_t id) {
  std::uint32_t node = 0;
  for (const char32_t character : piece) {
    const auto [at, added] =
        children_.try_emplace(edge(node, character), static_cast<std::uint32_t>(nodes_.size()));
    if (added) nodes_.emplace_back();
    node = at->second;
  }
  nodes_[node] = {id, score};  // of two equal pieces the second counts
}

template <class Visit>
void Pieces::each_match(std::u32string_view text, std::size_t start, Visit visit) const {
  std::uint32_t node = 0;
  for (std::size_t end = start; end < text.size();) {
    const auto child = children_.find(edge(node, text[end]));
    if (child == children_.end()) return;
    node = child->second;
    ++end;
    if (nodes_[node].id != kNone) visit(end, nodes_[node]);
  }
}

std::vector<std::int64_t> Pieces::encode(std::string_view text) const {
  std::u32string points = text::code_points(text::nfkc(text));
  if (points.empty()) return {};
  std::replace(points.begin(), points.end(), U' ', kSpace);
  points.insert(points.begin(), kSpace);

  // The best score of each prefix and its last piece. A score of 0 is also "none yet": with
  // scores that were lost this is no proper maximum, but it is the one the encoder knows.
  std::vector<double> best(points.size() + 1, 0.0);
  std::vector<std::int64_t> last(points.size() + 1, 0);
  for (std::size_t start = 0; start < points.size(); ++start) {
    const auto offer = [&](std::size_t end, const Node& piece) {
      const double score = piece.score + best[start];
      if (best[end] == 0.0 || score >= best[end]) {
        best[end] = score;
        last[end] = piece.id;
      }
    };
    bool any = false;
    each_match(points, start, [&](std::size_t end, const Node& piece) {
      any = true;
      offer(end, piece);
    });
    if (!any) offer(start + 1, {0, 0.0});
  }

  std::vector<std::int64_t> ids;
  for (auto at = static_cast<std::ptrdiff_t>(points.size()); at > 0;) {
    const std::int64_t id = last[static_cast<std::size_t>(at)];
    if (id != 0 || ids.empty() || ids.back() != 0) ids.push_back(id);
    at -= static_cast<std::ptrdiff_t>(steps_[static_cast<std::size_t>(id)]);
  }
  std::reverse(ids.begin(), ids.end());
  return ids;
}

}  // namespace attn::tasks
