// answer: a question about a picture.

#include "attn/tasks/task.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/answer/data.hpp"
#include "tasks/answer/lookers.hpp"
#include "tasks/answer/network.hpp"
#include "tasks/answer/questions.hpp"
#include "tasks/answer/scores.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

using nlohmann::json;

/// What models are asked about; one of each ships.
const std::vector<std::string> kAbouts{"shapes", "digits"};

std::size_t questions_in(std::span<const Example> examples) {
  std::size_t count = 0;
  for (const Example& example : examples) count += example.targets.size();
  return count;
}

class AnswerTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "answer",
        .about = "a question about a picture is answered",
        .title = "Answer a question about a picture",
        .help =
            "One model that ships learnt from drawings of a shape (easy-VQA): which shape, "
            "which colour,\n"
            "whether there is one; --about digits is the one for handwritten digits and where "
            "they are.\n"
            "--map shades where the question looked. Pictures are PNG, JPEG or GIF files of "
            "any "
            "size.\n"
            "\nExamples:\n"
            "    attn answer mine.png \"What shape is it?\"\n"
            "    attn answer mine.png \"Is there a blue circle?\" --map looked.svg\n"
            "    attn answer mine.jpg \"What color is the shape?\" --json\n"
            "    attn answer --about digits --sample 5 --save-samples canvases\n"
            "    attn answer canvases/canvas-0000-0.png --about digits \"What is above the "
            "4?\"\n"
            "    printf 'a.png\\tWhat shape is it?\\nb.png\\tIs it red?\\n' | attn answer -\n"
            "    attn train answer --attention grid --out mine",
        .metric = "accuracy",
        .score = "accuracy",
        .example = "What shape is in the picture?",
        .variant_flag = "about",
        .variants = kAbouts,
        .one_example = "question",
        .examples = "questions",
        .reads = TaskCard::Reads::parts,
        .argument = "input",
        .argument_type = "INPUT",
        .parts = {{.name = vqa::kPicture, .help = "a PNG, JPEG or GIF file", .picture = true},
                  {.name = vqa::kQuestion,
                   .help = "in quotes",
                   .example = "What shape is in the picture?"}}};
    return kCard;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    return {Setting{"about", "about", About::data, "Answer",
                    "What is asked about: shapes (easy-VQA), or digits (canvases of MNIST's)",
                    Kind::name, kAbouts},
            Setting{"attention", "model.attention", About::model, "Answer",
                    "How question and picture meet: co-attention, parallel or alternating; the "
                    "question\nlooks at a grid or at boxes; the mean of all places; none: the "
                    "question alone",
                    Kind::name, vqa::attentions()},
            Setting{"grid",
                    "model.grid",
                    About::model,
                    "Answer",
                    "Rows and columns of places: 8, or 16 finer ones",
                    Kind::whole,
                    {},
                    8,
                    16},
            Setting{"hops",
                    "model.hops",
                    About::model,
                    "Answer",
                    "Of grid and boxes: looks, each in the light of the one before",
                    Kind::whole,
                    {},
                    1,
                    vqa::kMostHops},
            Setting{"channels",
                    "model.channels",
                    About::model,
                    "Answer",
                    "Numbers of a place, a word and a phrase",
                    Kind::whole,
                    {},
                    1,
                    1024},
            Setting{"hidden",
                    "model.hidden",
                    About::model,
                    "Answer",
                    "Size of what an answer is told from",
                    Kind::whole,
                    {},
                    1,
                    4096}};
  }

  std::string misfit(const TrainingRun& run) const override {
    const json& model = run.what.at("model");
    const std::string attention = model.at("attention");
    if (model.at("grid") != 8 && model.at("grid") != 16)
      return "--grid is " + model.at("grid").dump() + "; 8 and 16 are accepted";
    if (model.at("hops") != 1 && attention != "grid" && attention != "boxes")
      return "--hops is of --attention grid and boxes; " + attention + " looks once";
    return "";
  }

  std::vector<PreparedFile> prepared() const override { return vqa::prepared_shapes(); }

  Corpus corpus(const json& what, const Say& say) const override {
    if (what.at("about") == "digits") return vqa::digit_questions(load_digits(say));
    const std::vector<PreparedFile>& files = vqa::prepared_shapes();
    return vqa::parse_shapes(read_prepared(files[0], name()), read_prepared(files[1], name()),
                             files[0].name);
  }

  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    return vqa::score_answers(examples, replies);
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    return vqa::baselines(corpus);
  }

  std::vector<Contender> contenders() const override {
    std::vector<Contender> all;
    for (const auto& [name, about] :
         {std::pair{"parallel", "question and picture look at each other at once"},
          std::pair{"alternating", "question, picture, question again"},
          std::pair{"grid", "the question looks at a grid"},
          std::pair{"boxes", "the question looks at boxes"},
          std::pair{"mean", "the mean of all places"}, std::pair{"none", "the question alone"}})
      all.push_back({name, about, {{"model", {{"attention", name}}}}});
    return all;
  }

  json facts(const Corpus& corpus, std::span<const Example> samples) const override {
    json all{{"name", corpus.name}};
    for (const auto& [name, part] :
         {std::pair{"train", &corpus.train}, std::pair{"development", &corpus.development},
          std::pair{"test", &corpus.test}})
      all["questions"][name] = questions_in(*part);
    all["pictures"]["train"] = corpus.train.size();
    for (const Baseline& baseline : baselines(corpus))
      for (const NamedScore& score : baseline.scores)
        all["baselines"][baseline.name][score.name] = score.value;
    for (const Example& sample : samples) {
      json one{{"id", sample.id}, {"targets", sample.targets}};
      for (const auto& [name, value] : sample.parts) one[name] = json_of(value);
      all["samples"].push_back(std::move(one));
    }
    return all;
  }

  std::string facts_text(const Corpus& corpus) const override {
    std::ostringstream text;
    text << "\n  " << corpus.name << ": " << questions_in(corpus.train) << " questions about "
         << corpus.train.size() << " pictures to learn from, "
         << questions_in(corpus.development) << " for development, "
         << questions_in(corpus.test) << " for the test; parts share no picture\n";
    std::map<std::string, std::size_t> answers;
    for (const Example& example : corpus.test)
      for (const std::string& target : example.targets) ++answers[target];
    text << "  answers:";
    for (const auto& [answer, count] : answers) text << " " << answer << " " << count;
    text << "\n";
    return text.str();
  }

 protected:
  json initial(const json& asked) const override {
    const bool digits = asked.contains("about") && asked["about"] == "digits";
    const auto pointer = json::json_pointer("/model/attention");
    const std::string attention = asked.contains(pointer) && asked[pointer].is_string()
                                      ? asked[pointer].get<std::string>()
                                  : digits ? "grid"
                                           : vqa::attentions().front();
    const bool hops = attention == "grid" || attention == "boxes";
    return {{"about", digits ? "digits" : "shapes"},
            {"model",
             {{"attention", attention},
              {"grid", digits ? 16 : 8},
              {"hops", digits && hops ? 2 : 1},
              {"channels", 64},
              {"hidden", 128}}}};
  }

  /// Tokens are questions here: a batch is some two dozen pictures with all of theirs.
  TrainingOptions training(const json&) const override {
    return {.batch_tokens = 256,
            .rate = 2e-3,
            .warm_up = 100,
            .clip = 2.0,
            .decay = 0.01,
            .average = 0.995,
            .evaluate_every = 200,
            .evaluate_on = 1500,
            .patience = 12};
  }

  Lexicon lexicon(const json& what, const Corpus& corpus, const TrainingTools&) const override {
    std::vector<std::string> questions;
    std::set<std::string> answers;
    for (const Example& example : corpus.train) {
      answers.insert(example.targets.begin(), example.targets.end());
      for (const auto& row : std::get<Table>(example.parts.at(vqa::kQuestions)).rows)
        questions.push_back(std::get<std::string>(row.at(0)));
    }
    Lexicon lexicon;
    lexicon.vocabularies.emplace("words", vqa::learn_words(questions));
    lexicon.facts["answers"] = answers;
    lexicon.facts["about"] = what.at("about");
    return lexicon;
  }

  std::shared_ptr<Network> network(const json& model, Lexicon lexicon,
                                   const std::string& where) const override {
    return vqa::make_network({.attention = model.at("attention").get<std::string>(),
                              .channels = model.at("channels").get<std::int64_t>(),
                              .hidden = model.at("hidden").get<std::int64_t>(),
                              .grid = model.at("grid").get<std::int64_t>(),
                              .hops = model.at("hops").get<std::int64_t>()},
                             lexicon, where);
  }
};

}  // namespace

const Task& answer_task() {
  static const AnswerTask kTask;
  return kTask;
}

}  // namespace attn::tasks
