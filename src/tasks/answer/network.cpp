#include "tasks/answer/network.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/embedding.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/join.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/answer/data.hpp"
#include "tasks/answer/lookers.hpp"
#include "tasks/answer/map.hpp"
#include "tasks/answer/picture_grid.hpp"
#include "tasks/answer/questions.hpp"
#include "tasks/answer/regions.hpp"
#include "tasks/pictures.hpp"

namespace attn::tasks::vqa {
namespace {

constexpr std::int64_t kSide = PictureGrid::kSide;

/// A picture with the questions about it, of which there is at least one.
struct Exam {
  Picture picture;  ///< [64, 64, 3]
  std::vector<Question> questions;
};

std::size_t count_of(const std::vector<Exam>& exams) {
  std::size_t count = 0;
  for (const Exam& exam : exams) count += exam.questions.size();
  return count;
}

/// A look in the CPU's memory.
struct Numbers {
  std::string level;
  std::vector<float> places;
  std::vector<float> words;
  std::size_t longest;  ///< words of a row; 0: it has none
};

std::vector<float> numbers_of(const Tensor& x) {
  return x.defined() ? x.to(DType::f32).to_vector<float>() : std::vector<float>();
}

std::vector<std::string> answers_of(const Lexicon& lexicon, const std::string& where) {
  const nlohmann::json& list = files::member(lexicon.facts, "answers", where);
  if (!list.is_array() || list.empty())
    fail<FileError>(where, ": answers are no list of texts");
  std::vector<std::string> answers;
  for (const nlohmann::json& one : list) answers.push_back(files::to_text(one, where));
  return answers;
}

/// How much of the cell of a grid a box covers, so that the shares of a box sum to 1.
std::vector<float> cells_of(const Box& box, std::int64_t grid) {
  const double size_of_cell = static_cast<double>(kSide) / static_cast<double>(grid);
  const auto shared = [&](std::int64_t cell, std::int64_t from, std::int64_t size) {
    const double begin = static_cast<double>(cell) * size_of_cell;
    return std::max(0.0, std::min(begin + size_of_cell, static_cast<double>(from + size)) -
                             std::max(begin, static_cast<double>(from)));
  };
  std::vector<float> cells;
  const auto area = static_cast<double>(box.width * box.height);
  for (std::int64_t row = 0; row < grid; ++row)
    for (std::int64_t column = 0; column < grid; ++column)
      cells.push_back(static_cast<float>(shared(column, box.x, box.width) *
                                         shared(row, box.y, box.height) / area));
  return cells;
}

class AnswerNetwork final : public Network {
 public:
  AnswerNetwork(const NetworkOptions& options, const Lexicon& lexicon, const std::string& where)
      : options_(options),
        vocabulary_(lexicon.vocabularies.at("words")),
        answers_(answers_of(lexicon, where)),
        about_(files::to_text(files::member(lexicon.facts, "about", where), where)),
        picture_(add("picture", PictureGrid(options.channels, options.grid))),
        words_(add("words",
                   nn::Embedding({.rows = vocabulary_.size(), .features = options.channels}))),
        looker_(looker_named(options.attention,
                             {.channels = options.channels,
                              .hidden = options.hidden,
                              .answers = static_cast<std::int64_t>(answers_.size()),
                              .hops = options.hops})) {
    add<nn::Module>("looker", *looker_);
  }

  std::string kind() const override { return "question answerer"; }
  std::string variant() const override { return about_; }

  Learner::Lesson loss(std::span<const Example* const> batch) const override {
    std::vector<Exam> exams;
    std::vector<std::int64_t> targets;
    for (const Example* example : batch) {
      Exam& exam = exams.emplace_back();
      exam.picture = fitted(in_colour(std::get<Picture>(example->parts.at(kPicture))), kSide);
      for (const auto& row : std::get<Table>(example->parts.at(kQuestions)).rows) {
        exam.questions.push_back(read_question(vocabulary_, std::get<std::string>(row.at(0))));
        targets.push_back(index_of(std::get<std::string>(row.at(1))));
      }
    }
    const auto count = static_cast<std::int64_t>(targets.size());
    const Tensor logits = looker_->forward(scene_of(exams), false).logits;
    return {cross_entropy(logits, Tensor::from(targets, {count}).to(device())), count};
  }

  std::int64_t cost(const Example& example) const override {
    const auto questions = example.parts.find(kQuestions);
    return questions == example.parts.end()
               ? 1
               : std::max<std::int64_t>(1, static_cast<std::int64_t>(
                                               std::get<Table>(questions->second).rows.size()));
  }

  std::string refusal(const Input& input) const override {
    const auto* picture = input.find<Picture>(kPicture);
    if (picture == nullptr) return "has no picture";
    if (const std::string problem = colours_refusal(*picture); !problem.empty())
      return "has a picture that " + problem;
    const auto* text = input.find<std::string>(kQuestion);
    if (text == nullptr) return "has no question";
    if (!files::is_utf8(*text)) return "has a question that is not UTF-8; convert it first";
    if (text->find('\0') != std::string::npos) return "has a question with a NUL in it";
    if (words_of(*text).empty()) return "has an empty question; ask something";
    if (read_question(vocabulary_, *text).words.empty())
      return "has a question of which the model knows no word: " + files::in_quotes(*text) +
             "; it knows " + some_words();
    return "";
  }

  std::vector<Reply> answer(std::span<const Input> inputs, const Choices&) const override {
    std::vector<Exam> exams;
    for (const Input& input : inputs) {
      Picture picture = picture_of(input);
      // Questions about one picture come one after another, and it is looked at once.
      if (exams.empty() || exams.back().picture != picture)
        exams.push_back({std::move(picture), {}});
      exams.back().questions.push_back(
          read_question(vocabulary_, *input.find<std::string>(kQuestion)));
    }
    const Answered answered = looker_->forward(scene_of(exams), true);
    const std::vector<float> chances = numbers_of(softmax(answered.logits.to(DType::f32)));
    std::vector<Numbers> looks;
    looks.reserve(answered.looks.size());
    for (const Look& look : answered.looks)
      looks.push_back(
          {look.level, numbers_of(look.places), numbers_of(look.words),
           look.words.defined() ? static_cast<std::size_t>(look.words.size(1)) : 0});
    std::vector<Reply> replies;
    std::size_t region = 0;
    for (const Exam& exam : exams) {
      const std::size_t regions = is_of_boxes() ? regions_of(exam.picture).size() : 0;
      for (const Question& question : exam.questions) {
        const std::size_t row = replies.size();
        Answer best =
            best_of(std::span(chances).subspan(row * answers_.size(), answers_.size()));
        add_weights(looks, row, question, region, regions, best);
        region += regions;
        replies.push_back(reply_of(question, std::move(best)));
      }
    }
    return replies;
  }

  maps::Map map(const Input& input, const Piece& piece, std::string_view) const override {
    if (options_.attention == "mean" || options_.attention == "none")
      fail("attn answer: a model with --attention ", options_.attention,
           " looks at no part of the picture; it has no attention to draw");
    const std::string& question = *input.find<std::string>(kQuestion);
    return map_of({options_.attention, options_.hops, picture_.grid()}, picture_of(input),
                  question, read_question(vocabulary_, question), piece.answers.front());
  }

 private:
  bool is_of_boxes() const { return options_.attention == "boxes"; }

  static Picture picture_of(const Input& input) {
    return fitted(in_colour(*input.find<Picture>(kPicture)), kSide);
  }

  std::int64_t index_of(const std::string& answer) const {
    const auto at = std::find(answers_.begin(), answers_.end(), answer);
    if (at == answers_.end())
      fail("attn answer: ", files::in_quotes(answer), " is no answer that the model has");
    return at - answers_.begin();
  }

  std::string some_words() const {
    constexpr std::int64_t kSome = 12;
    std::string words;
    for (std::int64_t id = text::unknown + 1;
         id < std::min(vocabulary_.size(), text::unknown + 1 + kSome); ++id)
      words += (words.empty() ? "" : ", ") + vocabulary_.label(id);
    return words + " and others";
  }

  Scene scene_of(const std::vector<Exam>& exams) const {
    const std::size_t count = count_of(exams);
    std::size_t longest = 1;
    for (const Exam& exam : exams)
      for (const Question& question : exam.questions)
        longest = std::max(longest, question.ids.size());
    std::vector<float> pixels;
    pixels.reserve(exams.size() * static_cast<std::size_t>(3 * kSide * kSide));
    std::vector<std::int64_t> pictures;
    std::vector<std::int64_t> ids(count * longest, text::pad);
    std::vector<std::int64_t> lengths;
    std::vector<std::int64_t> last;
    for (std::size_t i = 0; i < exams.size(); ++i) {
      for (std::size_t channel = 0; channel < 3; ++channel)
        for (std::size_t pixel = channel; pixel < exams[i].picture.pixels.size(); pixel += 3)
          pixels.push_back(static_cast<float>(exams[i].picture.pixels[pixel]) / 255.0f);
      for (const Question& question : exams[i].questions) {
        std::copy(question.ids.begin(), question.ids.end(),
                  ids.begin() + static_cast<std::ptrdiff_t>(lengths.size() * longest));
        pictures.push_back(static_cast<std::int64_t>(i));
        // A lesson may have no word that the model knows; its padding is then one.
        lengths.push_back(
            std::max<std::int64_t>(1, static_cast<std::int64_t>(question.ids.size())));
        last.push_back(lengths.back() - 1);
      }
    }
    const auto rows = static_cast<std::int64_t>(count);
    const Tensor input =
        Tensor::from(pixels, {static_cast<std::int64_t>(exams.size()), 3, kSide, kSide})
            .to(words_.weight().dtype())
            .to(device());
    const Tensor grids = picture_(input);
    Scene scene;
    scene.places = index_select(grids, 0, Tensor::from(pictures, {rows}).to(device()));
    scene.words =
        words_(Tensor::from(ids, {rows, static_cast<std::int64_t>(longest)}).to(device()));
    scene.lengths = Tensor::from(lengths, {rows}).to(device());
    scene.last = Tensor::from(last, {rows}).to(device());
    if (is_of_boxes()) add_regions(exams, grids, scene);
    return scene;
  }

  /// The mean of what a region covers of the grid, for each question anew.
  void add_regions(const std::vector<Exam>& exams, const Tensor& grids, Scene& scene) const {
    std::vector<Tensor> means;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int64_t> order;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < exams.size(); ++i) {
      std::vector<float> cells;
      const std::vector<Box> boxes = regions_of(exams[i].picture);
      const auto count = static_cast<std::int64_t>(boxes.size());
      for (const Box& box : boxes) {
        const std::vector<float> some = cells_of(box, picture_.grid());
        cells.insert(cells.end(), some.begin(), some.end());
      }
      const Tensor shares = Tensor::from(cells, {count, picture_.grid() * picture_.grid()})
                                .to(grids.dtype())
                                .to(device());
      means.push_back(matmul(shares, grids.select(0, static_cast<std::int64_t>(i))));
      for (std::size_t question = 0; question < exams[i].questions.size(); ++question) {
        for (std::int64_t region = 0; region < count; ++region) order.push_back(first + region);
        offsets.push_back(offsets.back() + count);
      }
      first += count;
    }
    const auto all = static_cast<std::int64_t>(order.size());
    scene.regions = index_select(concat(means, 0), 0, Tensor::from(order, {all}).to(device()));
    scene.offsets = Tensor::from(offsets, {static_cast<std::int64_t>(offsets.size())});
  }

  Answer best_of(std::span<const float> chances) const {
    Labels all;
    for (std::size_t i = 0; i < answers_.size(); ++i)
      all.push_back({answers_[i], static_cast<double>(chances[i])});
    std::stable_sort(all.begin(), all.end(),
                     [](const Label& a, const Label& b) { return a.score > b.score; });
    Answer best;
    best.text = all.front().name;
    best.score = all.front().score;
    best.log_probability = std::log(all.front().score);
    best.finished = true;
    best.output = std::move(all);
    return best;
  }

  /// The weights of one question, by level: "question_places", "question_words".
  void add_weights(const std::vector<Numbers>& looks, std::size_t row, const Question& question,
                   std::size_t region, std::size_t regions, Answer& best) const {
    const auto part = [](const std::vector<float>& all, std::size_t from, std::size_t count) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
      return std::vector<float>(first, first + static_cast<std::ptrdiff_t>(count));
    };
    const auto places = static_cast<std::size_t>(picture_.grid() * picture_.grid());
    for (const Numbers& look : looks) {
      best.numbers[look.level + "_places"] = is_of_boxes()
                                                 ? part(look.places, region, regions)
                                                 : part(look.places, row * places, places);
      if (look.longest > 0)
        best.numbers[look.level + "_words"] =
            part(look.words, row * look.longest, question.words.size());
    }
  }

  static Reply reply_of(const Question& question, Answer best) {
    Reply reply;
    if (!question.unknown.empty()) {
      reply.unfamiliar = true;
      std::string words;
      for (const std::string& word : question.unknown)
        words += (words.empty() ? "" : ", ") + files::printable(word);
      reply.notes.push_back("the model does not know " + words +
                            ", and answers as if the question had no such word");
    }
    if (question.cut) {
      reply.cut = true;
      reply.notes.push_back("the question is long: its first " + std::to_string(kMostWords) +
                            " words were read");
    }
    Piece& piece = reply.pieces.emplace_back();
    piece.cut = reply.cut;
    piece.answers.push_back(best);
    reply.answers.push_back(std::move(best));
    return reply;
  }

  NetworkOptions options_;
  text::Tokeniser vocabulary_;
  std::vector<std::string> answers_;
  std::string about_;
  PictureGrid picture_;
  nn::Embedding words_;
  std::shared_ptr<Looker> looker_;
};

}  // namespace

std::shared_ptr<Network> make_network(const NetworkOptions& options, const Lexicon& lexicon,
                                      const std::string& where) {
  if (!lexicon.vocabularies.contains("words"))
    fail<FileError>(where, ": there is no vocabulary \"words\"");
  return std::make_shared<AnswerNetwork>(options, lexicon, where);
}

}  // namespace attn::tasks::vqa
