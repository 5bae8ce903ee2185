// paint: a picture is painted pixel by pixel, each by looking at those before it.

#include "attn/tasks/task.hpp"

#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/paint/network.hpp"
#include "tasks/paint/pixels.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

using Json = nlohmann::json;

class PaintTask final : public NetworkTask {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "paint",
        .about = "a digit is painted, or completed, pixel by pixel",
        .title = "Paint a digit pixel by pixel, or complete one",
        .help =
            "A causal Transformer whose tokens are pixels: each is painted by looking at those "
            "before it.\n"
            "Without a picture it paints one, of --class if you like; of a picture the first "
            "rows are kept\n"
            "and the rest is painted. The model that ships learnt from handwritten digits in "
            "two "
            "colours,\n"
            "28 pixels on a side.\n"
            "\nExamples:\n"
            "    attn paint\n"
            "    attn paint --class 7 --seed 3 --out seven.png\n"
            "    attn paint half.png --out whole.png\n"
            "    attn paint half.png --rows 10 --class 3 --show\n"
            "    attn paint --map looked.svg",
        .metric = "nats a picture",
        .score = "nats",
        .one_example = "picture",
        .examples = "pictures",
        .reads = TaskCard::Reads::pictures,
        .argument = "images",
        .argument_type = "FILE.png",
        .argument_help = "PNG files whose first rows are kept; none: a picture from nothing",
        .from_nothing = true,
        .paints = true,
        .wishes = {{paint::kClass, "Digit to paint, 0 to 9; default: any"},
                   {paint::kSeed, "Random seed of the pixels; default 1"},
                   {paint::kRows, "Rows of a picture that are kept, of 28; default 14"},
                   {paint::kTemperature,
                    "Below 1: likelier pixels; above: less likely ones; default 1"}}};
    return kCard;
  }

  std::vector<std::string> fields() const override {
    std::vector<std::string> names{"picture"};
    for (const TaskCard::Part& wish : card().wishes) names.push_back(wish.name);
    return names;
  }

  /// All of them may be left out.
  Input input_of(const Json& request) const override {
    Input input;
    try {
      if (request.contains("picture")) {
        Value picture = value_of(request.at("picture"), "the field \"picture\"");
        if (!std::holds_alternative<Picture>(picture))
          fail("the field \"picture\" must be a picture");
        input.parts.emplace("picture", std::move(picture));
      }
    } catch (const FileError& error) {
      fail(error.what());
    }
    for (const TaskCard::Part& wish : card().wishes) {
      if (!request.contains(wish.name)) continue;
      const Json& value = request.at(wish.name);
      if (!value.is_number() && !value.is_string())
        fail("the field \"", wish.name, "\" must be a number");
      input.parts.emplace(wish.name,
                          value.is_string() ? value.get<std::string>() : value.dump());
    }
    return input;
  }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto number = [](const char* flag, const char* member, const char* help, double least,
                           double most, Kind kind = Kind::whole) {
      return Setting{
          flag, std::string("model.") + member, About::model, "Paint", help, kind, {}, least,
          most};
    };
    return {
        number("dim", "dim", "Size of a pixel's features", 8, 1024),
        number("layers", "layers", "Layers of the decoder", 1, 48),
        number("heads", "heads", "Attention heads", 1, 64),
        number("feed-forward", "feed_forward", "Hidden size of feed-forward layers", 1, 8192),
        number("dropout", "dropout", "Share of features dropped in training", 0, 0.9,
               Kind::real)};
  }

  Corpus corpus(const Json&, const Say& say) const override {
    return paint::corpus_of(load_digits(say));
  }

  /// The mean surprise of a picture.
  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    double nats = 0.0;
    for (const Reply& reply : replies) nats -= reply.answers.front().log_probability;
    return {{"nats", nats / static_cast<double>(examples.size())}};
  }

  std::string facts_text(const Corpus& corpus) const override {
    return "\n  digits of MNIST: " + std::to_string(corpus.train.size()) +
           " train, whose pixels are drawn anew each time; " +
           std::to_string(corpus.development.size()) + " development and " +
           std::to_string(corpus.test.size()) + " test, drawn once; parts share no digit\n";
  }

  std::vector<Baseline> baselines(const Corpus& corpus) const override {
    std::vector<Baseline> all;
    for (const auto& [name, nats] : paint::baselines_of(corpus))
      all.push_back({name, {{"nats", nats}}});
    return all;
  }

 protected:
  Json initial(const Json&) const override {
    return {
        {"model",
         {{"dim", 96}, {"layers", 5}, {"heads", 3}, {"feed_forward", 288}, {"dropout", 0.0}}}};
  }

  TrainingOptions training(const Json&) const override {
    return {.batch_tokens = 64,
            .rate = 2e-3,
            .warm_up = 1000,
            .smoothing = 0.0,
            .clip = 1.0,
            .decay = 0.01,
            .average = 0.9995,
            .evaluate_every = 2000,
            .evaluate_on = 400,
            .patience = 0};
  }

  Lexicon lexicon(const Json&, const Corpus&, const TrainingTools&) const override {
    return {};
  }

  std::shared_ptr<Network> network(const Json& model, Lexicon,
                                   const std::string& where) const override {
    return paint::make_network(model, where);
  }
};

}  // namespace

const Task& paint_task() {
  static const PaintTask kTask;
  return kTask;
}

}  // namespace attn::tasks
