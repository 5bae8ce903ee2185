#include "tasks/remember/story.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/text/unicode.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::remember {
namespace {

constexpr std::string_view kSpaces = " \t\r";
constexpr std::int64_t kTasks = 20;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

bool ends_sentence(char c) {
  return c == '.' || c == '!' || c == '?';
}

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split(std::string_view text, char by) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = text.find(by);
    fields.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return fields;
    text.remove_prefix(end + 1);
  }
}

const std::string& part_of(const Input& input, const char* name) {
  static const std::string kNone;
  const auto* text = input.find<std::string>(name);
  return text == nullptr ? kNone : *text;
}

/// The statements of a story so far, by the numbers of their lines.
class Telling {
 public:
  /// One line of a story; `support` numbers lines of the same story. Of a question the example.
  std::optional<Example> line(std::int64_t number, std::string_view text,
                              std::string_view answer, std::string_view support,
                              const std::string& place) {
    if (number == 1) {
      ++stories_;
      story_.clear();
      sentences_.clear();
    }
    if (stories_ == 0 || number != last_ + 1) {
      if (number != 1)
        fail<FileError>(place, ": line ", number, " of a story comes behind line ",
                        stories_ == 0 ? 0 : last_, "; stories begin with 1 and count on");
    }
    last_ = number;
    const std::string sentence(trimmed(text));
    if (words_of(sentence).empty()) fail<FileError>(place, ": the sentence has no word");
    if (answer.empty()) {
      if (!ends_sentence(sentence.back()))
        story_ += sentence + ". ";
      else
        story_ += sentence + " ";
      sentences_.emplace(number, static_cast<std::int64_t>(sentences_.size()));
      return std::nullopt;
    }
    Example example;
    example.targets.emplace_back(answer);
    example.parts.emplace("story", story_);
    example.parts.emplace("question", sentence);
    example.parts.emplace("support", places(support, place));
    return example;
  }

  std::int64_t stories() const { return stories_; }

 private:
  /// "0 3": the supporting lines as sentences of the story.
  std::string places(std::string_view support, const std::string& place) const {
    std::string out;
    for (const std::string_view one : text::split_words(support)) {
      const auto line = number_of(one);
      const auto at = line ? sentences_.find(*line) : sentences_.end();
      if (at == sentences_.end())
        fail<FileError>(place, ": ", files::in_quotes(one), " is no line of its story");
      out += (out.empty() ? "" : " ") + std::to_string(at->second);
    }
    return out;
  }

  std::string story_;
  std::map<std::int64_t, std::int64_t> sentences_;
  std::int64_t last_ = 0;
  std::int64_t stories_ = 0;
};

/// In an order that has nothing to do with the file's: neighbours share a batch.
void mix(std::vector<Example>& examples) {
  std::stable_sort(examples.begin(), examples.end(), [](const Example& a, const Example& b) {
    return split_hash(a.id) < split_hash(b.id);
  });
}

}  // namespace

std::vector<std::string_view> sentences_of(std::string_view text) {
  std::vector<std::string_view> sentences;
  const auto take = [&](std::string_view sentence) {
    if (sentence = trimmed(sentence); !sentence.empty()) sentences.push_back(sentence);
  };
  std::size_t begin = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool last = i + 1 == text.size();
    const bool mark =
        ends_sentence(text[i]) && (last || kSpaces.find(text[i + 1]) != std::string_view::npos);
    if (text[i] != '\n' && !mark && !last) continue;
    take(text.substr(begin, i + 1 - begin - (text[i] == '\n' ? 1 : 0)));
    begin = i + 1;
  }
  return sentences;
}

std::vector<std::string> words_of(std::string_view sentence) {
  std::string plain = text::lower(text::normalise(sentence));
  std::replace_if(
      plain.begin(), plain.end(),
      [](char c) { return std::string_view(".,;:!?\"()[]").find(c) != std::string_view::npos; },
      ' ');
  const std::vector<std::string_view> words = text::split_words(plain);
  return {words.begin(), words.end()};
}

std::string token_of(std::string_view answer) {
  std::string token = text::lower(text::normalise(answer));
  std::replace(token.begin(), token.end(), ' ', '_');
  return token;
}

const std::string& story_of(const Input& input) {
  return part_of(input, "story");
}

const std::string& question_of(const Input& input) {
  return part_of(input, "question");
}

std::int64_t task_of(const Example& example) {
  const auto number = number_of(std::string_view(example.id).substr(0, example.id.find('.')));
  return number && *number >= 1 && *number <= kTasks ? *number : 0;
}

std::vector<std::int64_t> support_of(const Example& example) {
  std::vector<std::int64_t> places;
  const Input input = example.input();
  for (const std::string_view one : text::split_words(part_of(input, "support")))
    places.push_back(number_of(one).value_or(-1));
  return places;
}

Corpus parse_prepared(std::string_view text, const std::string& where) {
  Corpus corpus;
  corpus.name = "bAbI, twenty tasks of a thousand questions";
  corpus.shuffled = true;
  Telling telling;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::string place = where + ", line " + std::to_string(number);
    const std::vector<std::string_view> fields = split(take_line(text), '\t');
    const auto task = number_of(fields.front());
    const auto line = number_of(fields.size() > 2 ? fields[2] : "");
    if (!task || *task < 1 || *task > kTasks || !line || fields.size() < 4 ||
        (fields[1] != "train" && fields[1] != "test"))
      fail<FileError>(place, ": a task, a part, a number and a sentence are accepted");
    std::optional<Example> example =
        telling.line(*line, fields[3], fields.size() > 4 ? fields[4] : std::string_view(),
                     fields.size() > 5 ? fields[5] : std::string_view(), place);
    if (!example) continue;
    const std::string story =
        std::to_string(*task) + ".story " + std::to_string(telling.stories());
    example->id = story + " line " + std::to_string(*line);
    (fields[1] == "test"        ? corpus.test
     : split_place(story) < 0.1 ? corpus.development
                                : corpus.train)
        .push_back(*std::move(example));
  }
  for (auto* part : {&corpus.train, &corpus.development, &corpus.test}) mix(*part);
  return corpus;
}

Corpus parse_own(std::string_view text, const std::string& where) {
  if (!files::is_utf8(text) || text.find('\0') != std::string_view::npos)
    fail<FileError>(where, " is no text in UTF-8");
  Corpus corpus;
  corpus.shuffled = true;
  Telling telling;
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::string place = where + ", line " + std::to_string(number);
    const std::string_view all = trimmed(take_line(text));
    if (all.empty()) continue;
    const std::size_t space = all.find(' ');
    const auto line = number_of(all.substr(0, space));
    if (!line || *line < 1 || space == std::string_view::npos)
      fail<FileError>(place, ": a number and a sentence are accepted, as in ",
                      "\"1 Mary moved to the bathroom.\"");
    const std::vector<std::string_view> fields = split(all.substr(space + 1), '\t');
    if (fields.size() > 3)
      fail<FileError>(place, " has ", fields.size() - 1,
                      " tabs; at most two are accepted: before the answer and its lines");
    const std::string_view answer = fields.size() > 1 ? trimmed(fields[1]) : std::string_view();
    if (fields.size() > 1 && answer.empty())
      fail<FileError>(place, ": the question has no answer");
    std::optional<Example> example = telling.line(
        *line, fields[0], answer, fields.size() > 2 ? fields[2] : std::string_view(), place);
    if (!example) continue;
    const std::string story = "story " + std::to_string(telling.stories());
    example->id = story + ", line " + std::to_string(*line);
    const double share = split_place(story);
    (share < 0.1   ? corpus.test
     : share < 0.2 ? corpus.development
                   : corpus.train)
        .push_back(*std::move(example));
  }
  if (corpus.train.empty() || corpus.development.empty() || corpus.test.empty())
    fail<FileError>(where, " has questions for ", corpus.train.size(), " train, ",
                    corpus.development.size(), " development and ", corpus.test.size(),
                    " test examples from ", telling.stories(),
                    " stories; each part needs one: about 30 stories are enough");
  for (auto* part : {&corpus.train, &corpus.development, &corpus.test}) mix(*part);
  return corpus;
}

}  // namespace attn::tasks::remember
