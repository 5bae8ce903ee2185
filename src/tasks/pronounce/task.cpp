// pronounce: the letters of an English word become its phones.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/models/options.hpp"
#include "attn/tasks/batches.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/npm.hpp"
#include "attn/tasks/pair_model.hpp"
#include "attn/tasks/pair_task.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/text_data.hpp"
#include "attn/text/tokeniser.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/loading.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

constexpr double kTest = 0.102;  // 12,855 of 126,046 words, as the literature tests on
constexpr double kDevelopment = 0.02;
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

struct Entry {
  std::string_view word;
  std::string_view phones;
};

/// `  "word": "phones",`, the only kind of line between the braces.
std::optional<Entry> entry_of(std::string_view line) {
  const std::size_t word = line.find('"');
  if (word == std::string_view::npos) return std::nullopt;
  const std::size_t middle = line.find("\": \"", word + 1);
  if (middle == std::string_view::npos) return std::nullopt;
  const std::size_t phones = middle + 4;
  const std::size_t end = line.find('"', phones);
  if (end == std::string_view::npos) return std::nullopt;
  return Entry{line.substr(word + 1, middle - word - 1), line.substr(phones, end - phones)};
}

/// "abkhazia(2)" is a second way to say "abkhazia".
std::string_view without_variant(std::string_view word) {
  const std::size_t bracket = word.find('(');
  return bracket == 0 ? word : word.substr(0, bracket);
}

/// Without stress and without the remark behind '#'.
std::string plain_phones(std::string_view phones) {
  std::string plain;
  for (const char c : phones.substr(0, phones.find('#'))) {
    if (c >= '0' && c <= '9') continue;
    if (c == ' ' && (plain.empty() || plain.back() == ' ')) continue;
    plain += c;
  }
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  return plain;
}

/// The dictionary knows small letters alone.
std::string lower(std::string_view word) {
  std::string text(word);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return text;
}

/// A word is read whole or not at all.
std::string too_long(const PairModel& model, std::string_view word) {
  const auto letters = static_cast<std::int64_t>(text::code_points(word).size());
  if (letters <= model.limits.source) return "";
  return "is a word of " + std::to_string(letters) + " letters: " + files::in_quotes(word) +
         "; the model reads at most " + std::to_string(model.limits.source);
}

Corpus load_pronounce(const DataChoice&, const Say& say) {
  const NpmFile file{"cmu-pronouncing-dictionary@3.0.0", "index.js",
                     "ef8b2b976d2e5801b7541ebcc7714f538d1ffa0ebb28645259536e2666bd2948"};
  const std::filesystem::path path = fetched(file, say);
  return parse_pronounce(files::read_text(path, kMostBytes), files::path_text(path));
}

}  // namespace

PairTask pronounce_task() {
  PairTask task;
  task.card.name = "pronounce";
  task.card.title = "Turn English words into phones";
  task.card.help =
      "The phones are those of the CMU Pronouncing Dictionary, without stress. A word that no\n"
      "dictionary has works as well: the model spells it out, looking at the letters it "
      "needs.\n"
      "\nExamples:\n"
      "    attn pronounce attention debian\n"
      "    attn pronounce --best 3 read\n"
      "    attn pronounce - < words.txt > phones.txt\n"
      "    attn pronounce --json --weights though | jq .pieces[0].answers[0].weights";
  task.card.metric = "PER";
  task.card.score = "PER";
  task.card.argument = "words";
  task.card.argument_type = "WORD";
  task.card.argument_help = "Words, or - for one a line";
  task.card.echo = true;
  task.card.about = "an English word becomes its phones (CMU Pronouncing Dictionary)";
  task.card.example = "attention";
  task.tokens = {.source = text::Units::characters, .target = text::Units::words};
  task.model.dim = 192;
  task.model.encoder_layers = 3;
  task.model.decoder_layers = 2;
  task.model.heads = 4;
  task.model.positions = models::Positions::sinusoidal;
  task.model.feed_forward = 512;
  task.limits = {.source = 48, .target = 48};
  task.metric = Metric::phones;
  task.training.batch_tokens = 4096;
  task.prepare = lower;
  task.refuse = too_long;
  task.load = load_pronounce;
  return task;
}

Corpus parse_pronounce(std::string_view text, std::string_view where) {
  std::vector<Example> words;
  std::unordered_map<std::string_view, std::size_t> places;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    ++number;
    if (!line.starts_with("  ")) continue;  // what stands around the braces
    const auto entry = entry_of(line);
    const std::string phones = entry ? plain_phones(entry->phones) : "";
    const std::string_view word = entry ? without_variant(entry->word) : "";
    if (word.empty() || phones.empty())
      fail<FileError>(where, ", line ", number, ": ", files::in_quotes(line),
                      "; accepted is  \"word\": \"PHONES\",");
    const auto [place, is_new] = places.emplace(word, words.size());
    if (is_new) words.push_back({std::string(word), std::string(word), {}});
    std::vector<std::string>& targets = words[place->second].targets;
    // Pronunciations that differ in stress alone are one here.
    if (std::find(targets.begin(), targets.end(), phones) == targets.end())
      targets.push_back(phones);
  }
  if (words.empty()) fail<FileError>(where, ": there is no word in it");

  Corpus corpus;
  corpus.name = "CMU Pronouncing Dictionary";
  for (Example& word : words) {
    const double place = split_place(word.source);
    std::vector<Example>& part = place < kTest                  ? corpus.test
                                 : place < kTest + kDevelopment ? corpus.development
                                                                : corpus.train;
    part.push_back(std::move(word));
  }
  return corpus;
}

}  // namespace attn::tasks
