#include "tasks/compose/notation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/random.hpp"
#include "tasks/compose/abc.hpp"
#include "tasks/compose/chorale.hpp"
#include "tasks/compose/music.hpp"

namespace attn::tasks::compose {
namespace {

constexpr double kChoraleTempo = 80.0;
/// A chorale is moved by so many half tones down, and by one less up: to every key.
constexpr int kMostShift = 6;

class ChoraleNotation final : public Notation {
 public:
  ChoraleNotation(int lowest, int highest) : lowest_(lowest), highest_(highest) {}

  std::int64_t count() const override { return ChoraleTokens::kCount; }
  std::int64_t slots() const override { return kVoices; }
  bool ends(std::int64_t) const override { return false; }
  std::string label(std::int64_t token) const override {
    return token >= ChoraleTokens::kFirst
               ? name_of_pitch(static_cast<int>(token - ChoraleTokens::kFirst) + kLowest)
               : "·";
  }

  Tokens tokens_of(const std::string& text) const override {
    return compose::tokens_of(read_steps(text, "the chorale"));
  }

  void vary(Tokens& tokens, Random& random) const override {
    std::int64_t low = ChoraleTokens::kCount;
    std::int64_t high = 0;
    for (const std::int64_t token : tokens) {
      if (token < ChoraleTokens::kFirst) continue;
      low = std::min(low, token);
      high = std::max(high, token);
    }
    if (high == 0) return;
    const std::int64_t down =
        std::max<std::int64_t>(-kMostShift, lowest_ - kLowest + ChoraleTokens::kFirst - low);
    const std::int64_t up = std::min<std::int64_t>(
        kMostShift - 1, highest_ - kLowest + ChoraleTokens::kFirst - high);
    if (up < down) return;
    const auto range = static_cast<std::uint64_t>(up - down + 1);
    const std::int64_t shift = down + static_cast<std::int64_t>(random.next() % range);
    for (std::int64_t& token : tokens)
      if (token >= ChoraleTokens::kFirst) token += shift;
  }

  void forbid(std::span<const std::int64_t> before, float* penalties) const override {
    compose::forbid(before.last(before.size() % kVoices), penalties);
  }

  Opening opening(const Input& input) const override {
    Opening opening;
    std::size_t crowded = 0;
    const Music music = notes_of(input);
    const auto beyond = [](const Note& note) {
      return note.pitch < kLowest || note.pitch > kHighest;
    };
    if (std::any_of(music.notes.begin(), music.notes.end(), beyond))
      opening.problem = "has notes beyond those of a piano";
    opening.tokens = compose::tokens_of(steps_of(music, &crowded));
    if (crowded > 0)
      opening.notes.push_back("in " + std::to_string(crowded) +
                              " quarters more than four notes sound; four of them are read");
    return opening;
  }

  Composition composition(std::span<const std::int64_t> tokens) const override {
    const Steps steps = steps_of(tokens);
    Composition made{write_abc(steps, kChoraleTempo), music_of(steps, kChoraleTempo), {}};
    std::int64_t note = 0;
    for (const std::int64_t token : tokens)
      made.note_of.push_back(token >= ChoraleTokens::kFirst ? note++ : -1);
    return made;
  }

 private:
  int lowest_;
  int highest_;
};

/// Begins of lines that a tune's text has, in this order.
constexpr std::array<std::pair<char, const char*>, 3> kHeads{
    {{'M', "C"}, {'L', "1/8"}, {'K', "C"}}};

class TuneNotation final : public Notation {
 public:
  static constexpr std::int64_t kEnd = 2;
  static constexpr std::int64_t kFirst = 3;

  explicit TuneNotation(std::string characters) : characters_(std::move(characters)) {
    ids_.fill(-1);
    for (std::size_t i = 0; i < characters_.size(); ++i)
      ids_[static_cast<unsigned char>(characters_[i])] = kFirst + static_cast<std::int64_t>(i);
  }

  std::int64_t count() const override {
    return kFirst + static_cast<std::int64_t>(characters_.size());
  }
  std::int64_t slots() const override { return 1; }
  bool ends(std::int64_t token) const override { return token == kEnd; }
  std::string label(std::int64_t token) const override {
    return token >= kFirst && token < count()
               ? std::string(1, characters_[static_cast<std::size_t>(token - kFirst)])
               : "";
  }

  Tokens tokens_of(const std::string& text) const override {
    Tokens tokens = known(text, nullptr);
    tokens.push_back(kEnd);
    return tokens;
  }

  void forbid(std::span<const std::int64_t>, float* penalties) const override {
    std::fill_n(penalties, count(), 0.0f);
    penalties[kPad] = penalties[kBegin] = -1e9f;
  }

  Opening opening(const Input& input) const override {
    std::string text = input.text();
    if (input.find<Table>("notes") != nullptr) text = write_melody(notes_of(input));
    Opening opening;
    std::size_t unknown = 0;
    opening.tokens = known(plain_tune(text), &unknown);
    if (unknown > 0)
      opening.notes.push_back(std::to_string(unknown) +
                              " characters of the tune were in no tune that the model learnt "
                              "from; they are not read");
    return opening;
  }

  Composition composition(std::span<const std::int64_t> tokens) const override {
    std::string text;
    for (const std::int64_t token : tokens)
      if (token >= kFirst) text += characters_[static_cast<std::size_t>(token - kFirst)];
    Composition made{"X:1\nT:A tune\n" + text + "\n", {}, {}};
    // What a model writes need not be ABC.
    try {
      made.music = read_abc(made.text, "the tune");
    } catch (const FileError& error) {
      made.problem = error.what();
    }
    made.note_of.assign(tokens.size(), -1);
    return made;
  }

 private:
  Tokens known(std::string_view text, std::size_t* unknown) const {
    Tokens tokens;
    for (const char c : text) {
      const std::int64_t id = ids_[static_cast<unsigned char>(c)];
      if (id >= 0) {
        tokens.push_back(id);
      } else if (unknown != nullptr) {
        ++*unknown;
      }
    }
    return tokens;
  }

  std::string characters_;
  std::array<std::int64_t, 256> ids_{};
};

}  // namespace

std::string plain_tune(std::string_view text) {
  std::map<char, std::string> heads;
  std::string body;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find('%'));
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.size() > 1 && line[1] == ':' && line[0] >= 'A' && line[0] <= 'Z') {
      std::string_view value = line.substr(2);
      while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
      heads[line[0]] = std::string(value);
    } else if (!line.empty()) {
      body += (body.empty() ? "" : " ") + std::string(line);
    }
  }
  std::string plain;
  for (const auto& [name, usual] : kHeads) {
    const bool later = !body.empty() || (name != 'K' && heads.contains('K')) ||
                       (name == 'M' && heads.contains('L'));
    if (!heads.contains(name) && !later) break;
    plain += std::string(1, name) + ":" + (heads.contains(name) ? heads[name] : usual) + "\n";
  }
  return plain + body;
}

const std::string* piece_text(const Input& input) {
  const auto* chorale = input.find<std::string>("chorale");
  return chorale != nullptr ? chorale : input.find<std::string>("tune");
}

double units_of(const Input& input) {
  if (const auto* text = input.find<std::string>("chorale"))
    return static_cast<double>(read_steps(*text, "the chorale").size());
  const std::string* tune = piece_text(input);
  if (tune == nullptr) fail("attn::tasks::compose: an example without a piece");
  return static_cast<double>(tune->size()) + 1.0;
}

std::unique_ptr<Notation> notation_of(const nlohmann::json& facts, const std::string& where) {
  const std::string& kind = files::to_text(files::member(facts, "kind", where), where);
  if (kind == "tune") {
    const std::string& characters =
        files::to_text(files::member(facts, "characters", where), where);
    std::string once = characters;
    std::sort(once.begin(), once.end());
    if (characters.empty() || std::unique(once.begin(), once.end()) != once.end())
      fail<FileError>(where, ": characters are ", files::in_quotes(characters),
                      "; different ones, at least one, are accepted");
    return std::make_unique<TuneNotation>(characters);
  }
  if (kind != "chorale")
    fail<FileError>(where, ": kind is ", files::in_quotes(kind), "; there are chorale, tune");
  const std::int64_t low = files::to_int(files::member(facts, "lowest", where), where);
  const std::int64_t high = files::to_int(files::member(facts, "highest", where), where);
  if (low < kLowest || high > kHighest || low > high)
    fail<FileError>(where, ": notes from ", low, " to ", high, "; those of a piano, ", kLowest,
                    " to ", kHighest, ", are accepted");
  return std::make_unique<ChoraleNotation>(static_cast<int>(low), static_cast<int>(high));
}

nlohmann::json chorale_facts(std::span<const std::string* const> texts) {
  int low = kHighest;
  int high = kLowest;
  for (const std::string* text : texts)
    for (const Step& step : read_steps(*text, "the chorale")) {
      if (step.empty()) continue;
      low = std::min(low, step.front());
      high = std::max(high, step.back());
    }
  return {{"kind", "chorale"}, {"lowest", std::min(low, high)}, {"highest", high}};
}

nlohmann::json tune_facts(std::span<const std::string* const> texts, std::int64_t least) {
  std::map<char, std::int64_t> counts;
  for (const std::string* text : texts)
    for (const char c : *text) ++counts[c];
  std::string characters;
  for (const auto& [c, count] : counts)
    if (count >= least) characters += c;
  return {{"kind", "tune"}, {"characters", characters}};
}

Music notes_of(const Input& input) {
  if (const auto* table = input.find<Table>("notes")) return music_of(*table);
  const std::string& text = input.text();
  const bool empty = text.find_first_not_of(" \t\r\n") == std::string::npos;
  return empty ? Music{} : read_abc(text, "the text");
}

}  // namespace attn::tasks::compose
