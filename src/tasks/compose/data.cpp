#include "tasks/compose/data.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "tasks/compose/abc.hpp"
#include "tasks/compose/chorale.hpp"
#include "tasks/compose/music.hpp"
#include "tasks/compose/notation.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::compose {
namespace {

constexpr const char* kTask = "compose";
constexpr double kHeldOut = 0.1;  ///< for each of development and test
/// Characters of a tune, at most: one token each, in one window.
constexpr std::size_t kMostCharacters = 639;

std::vector<std::string_view> columns_of(std::string_view line) {
  std::vector<std::string_view> columns;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    columns.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return columns;
}

std::vector<Example>* part_named(Corpus& corpus, std::string_view name) {
  return name == "train"   ? &corpus.train
         : name == "valid" ? &corpus.development
         : name == "test"  ? &corpus.test
                           : nullptr;
}

/// Letters alone, and the first words alone: "The Foggy Dew (2nd version)" and "FOGGY DEW" are
/// one tune.
std::string family_of(std::string_view title) {
  std::string name;
  for (const char c : title.substr(0, title.find_first_of("(-,/"))) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) name += static_cast<char>(std::tolower(byte));
  }
  if (name.starts_with("the")) name.erase(0, 3);
  return name;
}

/// One space where there are several, no marks that are not ASCII, and no comments.
std::string tidy(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x7F || static_cast<unsigned char>(c) < ' ') continue;
    if (c == ' ' && (result.empty() || result.back() == ' ')) continue;
    result += c;
  }
  while (!result.empty() && result.back() == ' ') result.pop_back();
  return result;
}

std::string head_of(std::string_view text) {
  return tidy(text.substr(0, text.find('%')));
}

Example example_of(const char* part, std::string id, std::string text) {
  Example example{.id = std::move(id), .source = "", .targets = {""}};
  example.parts = {{part, std::move(text)}};
  return example;
}

void check_parts(const Corpus& corpus, const char* what) {
  if (corpus.train.empty() || corpus.development.empty() || corpus.test.empty())
    fail<FileError>(what, " has ", corpus.train.size(), " pieces to learn from, ",
                    corpus.development.size(), " of development and ", corpus.test.size(),
                    " of test; all three are needed, which ten pieces give");
}

}  // namespace

PreparedFile chorales_file() {
  return {"jsb.tsv.xz", "74632d2ee4e9d9da17eecc91d04cbca11dc372c814f4e7afd1fa9f5245299175",
          "four-part chorales of J. S. Bach, public domain (github.com/czhuang/"
          "JSB-Chorales-dataset)"};
}

PreparedFile tunes_file() {
  return {"tunes.tsv.xz", "bb85f631f13c8b7b0eac537b5792f6fef515f0f6c6ee7246f1df43232d6504de",
          "O'Neill's Music of Ireland (1903), Ryan's Mammoth Collection (1883) and Aird's Airs "
          "(1782), public domain, in ABC (github.com/cuthbertLab/music21, corpus)"};
}

Corpus parse_chorales(std::string_view text) {
  const std::string where = chorales_file().name;
  Corpus corpus;
  corpus.name = "four-part chorales, in quarters";
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    const std::string here = where + " line " + std::to_string(number);
    const auto columns = columns_of(line);
    if (columns.size() != 4)
      fail<FileError>(here, " has ", columns.size(), " columns; 4 are accepted");
    if (columns[1] != "quarter") continue;
    std::vector<Example>* part = part_named(corpus, columns[0]);
    if (part == nullptr)
      fail<FileError>(here, ": ", files::in_quotes(columns[0]),
                      " is no part; there are train, valid, test");
    if (read_steps(columns[3], here).empty()) fail<FileError>(here, " has no step");
    part->push_back(example_of("chorale",
                               std::string(columns[0]) + " " + std::string(columns[2]),
                               std::string(columns[3])));
  }
  check_parts(corpus, where.c_str());
  return corpus;
}

Corpus parse_tunes(std::string_view text, std::size_t most) {
  const std::string where = tunes_file().name;
  Corpus corpus;
  corpus.name = "folk tunes in ABC";
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    const auto columns = columns_of(line);
    if (columns.size() != 7)
      fail<FileError>(where, " line ", number, " has ", columns.size(),
                      " columns; 7 are accepted");
    const std::string tune = "M:" + head_of(columns[3]) + "\nL:" + head_of(columns[4]) +
                             "\nK:" + head_of(columns[5]) + "\n" + tidy(columns[6]);
    if (tune.size() > most || columns[6].empty()) continue;
    const double place = split_place(family_of(columns[1]));
    std::vector<Example>& part = place < kHeldOut         ? corpus.test
                                 : place < 2.0 * kHeldOut ? corpus.development
                                                          : corpus.train;
    part.push_back(
        example_of("tune", std::string(columns[0]) + " " + std::to_string(number), tune));
  }
  check_parts(corpus, where.c_str());
  return corpus;
}

Corpus parse_own(std::string_view text, std::string_view kind, const std::string& where) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (pieces.empty() || line.starts_with("X:")) pieces.emplace_back();
    pieces.back() += std::string(line) + "\n";
  }
  Corpus corpus;
  std::size_t number = 0;
  for (const std::string& piece : pieces) {
    const std::string here = where + ", piece " + std::to_string(++number);
    const Music music = read_abc(piece, here);
    if (music.notes.empty()) continue;
    Example example = kind == "tune"
                          ? example_of("tune", here, plain_tune(piece))
                          : example_of("chorale", here, write_steps(steps_of(music)));
    std::vector<Example>& part = number % 10 == 4   ? corpus.development
                                 : number % 10 == 9 ? corpus.test
                                                    : corpus.train;
    part.push_back(std::move(example));
  }
  check_parts(corpus, where.c_str());
  return corpus;
}

Corpus music_corpus(std::string_view kind) {
  if (kind == "tune") return parse_tunes(read_prepared(tunes_file(), kTask), kMostCharacters);
  return parse_chorales(read_prepared(chorales_file(), kTask));
}

}  // namespace attn::tasks::compose
