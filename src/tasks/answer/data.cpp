#include "tasks/answer/data.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::vqa {
namespace {

constexpr std::int64_t kSide = 64;
constexpr std::size_t kPictureBytes = kSide * kSide * 3;
constexpr std::size_t kTrainPictures = 4000;
constexpr std::size_t kTestPictures = 1000;
/// Of the training pictures, from the first; the others are for development.
constexpr std::size_t kLearntFrom = 3600;

constexpr std::size_t kTrainCanvases = 24000;
constexpr std::size_t kOtherCanvases = 1000;
// Seeds of the composed parts; those of captions are others.
constexpr std::uint64_t kTrainSeed = 0xA5'0000'0001;
constexpr std::uint64_t kDevelopmentSeed = 0xA5'0000'0002;
constexpr std::uint64_t kTestSeed = 0xA5'0000'0003;

struct Row {
  bool test = false;
  std::size_t picture = 0;
  Asked asked;
};

Row row_of(std::string_view line, std::size_t number, const std::string& where) {
  std::array<std::string_view, 4> columns;
  std::size_t count = 0;
  std::string_view rest = line;
  for (; count < columns.size(); ++count) {
    const std::size_t tab = std::min(rest.find('\t'), rest.size());
    columns.at(count) = rest.substr(0, tab);
    if (tab == rest.size()) break;
    rest.remove_prefix(tab + 1);
  }
  Row row;
  row.test = columns[0] == "test";
  const auto [end, error] =
      std::from_chars(columns[1].data(), columns[1].data() + columns[1].size(), row.picture);
  const bool fits = count + 1 == columns.size() && (row.test || columns[0] == "train") &&
                    error == std::errc() && end == columns[1].data() + columns[1].size() &&
                    row.picture < (row.test ? kTestPictures : kTrainPictures) &&
                    !columns[2].empty() && !columns[3].empty();
  if (!fits)
    fail<FileError>(where, ": line ", number,
                    " is not split, picture, question, answer between tabs");
  row.asked = {std::string(columns[2]), std::string(columns[3])};
  return row;
}

Picture picture_at(std::string_view pictures, std::size_t index) {
  const auto* from =
      reinterpret_cast<const std::uint8_t*>(pictures.data()) + index * kPictureBytes;
  return {kSide, kSide, 3, std::vector<std::uint8_t>(from, from + kPictureBytes)};
}

std::string numbered(const char* stem, std::size_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 4 - std::min<std::size_t>(4, digits.size()), '0');
  return std::string(stem) + "-" + digits;
}

Box box_of(const PlacedDigit& digit) {
  return {std::to_string(digit.digit), digit.x, digit.y, digit.width, digit.height};
}

/// How one digit lies to another, by the larger of the distances between their middles.
const char* place_of(const PlacedDigit& one, const PlacedDigit& other) {
  const std::int64_t across = 2 * (one.x - other.x) + one.width - other.width;
  const std::int64_t down = 2 * (one.y - other.y) + one.height - other.height;
  if (std::abs(across) > std::abs(down)) return across < 0 ? "left of" : "right of";
  return down < 0 ? "above" : "below";
}

void ask_relations(const Canvas& canvas, std::vector<Asked>& asked) {
  for (const PlacedDigit& other : canvas.digits) {
    const auto same =
        std::count_if(canvas.digits.begin(), canvas.digits.end(),
                      [&](const PlacedDigit& digit) { return digit.digit == other.digit; });
    if (same > 1) continue;
    for (const char* place : {"left of", "right of", "above", "below"}) {
      std::vector<const PlacedDigit*> there;
      for (const PlacedDigit& one : canvas.digits)
        if (&one != &other && std::string_view(place_of(one, other)) == place)
          there.push_back(&one);
      if (there.size() != 1) continue;
      asked.push_back(
          {std::string("what is ") + place + " the " + std::to_string(other.digit) + "?",
           std::to_string(there.front()->digit),
           {box_of(*there.front())}});
    }
  }
}

Picture picture_of(const Canvas& canvas) {
  return {kCanvasSide, kCanvasSide, 1, canvas.pixels};
}

}  // namespace

const std::vector<PreparedFile>& prepared_shapes() {
  static const std::vector<PreparedFile> kFiles = [] {
    const std::string source =
        "easy-VQA (github vzhou842/easy-VQA), MIT, its PNG files as plain bytes";
    return std::vector<PreparedFile>{
        {"easyvqa.tsv.xz", "40cce2d16cc5fae04087752f5b81eaee576acece4ae8898d507434d55fcf452f",
         source},
        {"easyvqa-images.bin.xz",
         "a66b5135ce6ea6d394f2f7b5020a638c4d22b34dac397ab4575c9f54497cb5ae", source}};
  }();
  return kFiles;
}

Example lesson(std::string id, Picture picture, const std::vector<Asked>& asked) {
  Example example{.id = std::move(id), .source = "", .targets = {}};
  Table table{{kQuestion, "answer"}, {}};
  for (const Asked& one : asked) {
    table.rows.push_back({one.question, one.answer});
    example.targets.push_back(one.answer);
  }
  example.parts.emplace(kPicture, std::move(picture));
  example.parts.emplace(kQuestions, std::move(table));
  return example;
}

Example exam(std::string id, Picture picture, Asked asked) {
  Example example{.id = std::move(id),
                  .source = "",
                  .targets = {std::move(asked.answer)},
                  .boxes = std::move(asked.boxes)};
  example.parts.emplace(kPicture, std::move(picture));
  example.parts.emplace(kQuestion, std::move(asked.question));
  return example;
}

Corpus parse_shapes(std::string_view questions, std::string_view pictures,
                    const std::string& where) {
  if (pictures.size() != (kTrainPictures + kTestPictures) * kPictureBytes)
    fail<FileError>(where, ": ", pictures.size(), " bytes of pictures; ",
                    (kTrainPictures + kTestPictures) * kPictureBytes, " are accepted");
  Corpus corpus;
  corpus.name = "easy-VQA";
  std::vector<std::vector<Asked>> train(kLearntFrom);
  for (std::size_t number = 1; !questions.empty(); ++number) {
    Row row = row_of(take_line(questions), number, where);
    const std::size_t at = row.picture + (row.test ? kTrainPictures : 0);
    if (!row.test && row.picture < kLearntFrom) {
      train[row.picture].push_back(std::move(row.asked));
    } else {
      (row.test ? corpus.test : corpus.development)
          .push_back(exam(numbered("shape", at) + "-" + std::to_string(number),
                          picture_at(pictures, at), std::move(row.asked)));
    }
  }
  for (std::size_t i = 0; i < train.size(); ++i)
    if (!train[i].empty())
      corpus.train.push_back(lesson(numbered("shape", i), picture_at(pictures, i), train[i]));
  if (corpus.train.empty() || corpus.development.empty() || corpus.test.empty())
    fail<FileError>(where, " has ", corpus.train.size(), " pictures to learn from, ",
                    corpus.development.size(), " questions for development and ",
                    corpus.test.size(), " for the test; each part needs one");
  return corpus;
}

std::vector<Asked> questions_of(const Canvas& canvas, std::uint64_t number) {
  std::vector<Asked> asked;
  ask_relations(canvas, asked);
  if (canvas.digits.size() == 1)
    asked.push_back({"what digit is it?",
                     std::to_string(canvas.digits.front().digit),
                     {box_of(canvas.digits.front())}});
  asked.push_back({"how many digits are there?", std::to_string(canvas.digits.size())});
  // One that is there and one that is not, as often.
  const PlacedDigit& there = canvas.digits[number % canvas.digits.size()];
  asked.push_back({"is there a " + std::to_string(there.digit) + "?", "yes", {box_of(there)}});
  for (std::uint64_t i = 0; i < 10; ++i) {
    const auto digit = static_cast<std::int64_t>((split_hash("absent", number) + i) % 10);
    if (std::any_of(canvas.digits.begin(), canvas.digits.end(),
                    [&](const PlacedDigit& one) { return one.digit == digit; }))
      continue;
    asked.push_back({"is there a " + std::to_string(digit) + "?", "no"});
    break;
  }
  return asked;
}

Corpus digit_questions(const DigitParts& parts) {
  Corpus corpus;
  corpus.name = "MNIST digits";
  for (std::uint64_t i = 0; i < kTrainCanvases; ++i) {
    const Canvas canvas = compose_canvas(parts.train, kTrainSeed, i);
    corpus.train.push_back(
        lesson(numbered("canvas", i), picture_of(canvas), questions_of(canvas, i)));
  }
  const auto compose = [](const Digits& digits, std::uint64_t seed,
                          std::vector<Example>& part) {
    for (std::uint64_t i = 0; i < kOtherCanvases; ++i) {
      const Canvas canvas = compose_canvas(digits, seed, i);
      for (Asked& asked : questions_of(canvas, i))
        part.push_back(exam(numbered("canvas", i) + "-" + std::to_string(part.size()),
                            picture_of(canvas), std::move(asked)));
    }
  };
  compose(parts.development, kDevelopmentSeed, corpus.development);
  compose(parts.test, kTestSeed, corpus.test);
  return corpus;
}

}  // namespace attn::tasks::vqa
