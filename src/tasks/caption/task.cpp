// caption: a picture of handwritten digits becomes a sentence that says which and where.

#include "attn/tasks/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iomanip>
#include <ios>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/base64.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/captioner.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/scores.hpp"
#include "attn/tasks/training_run.hpp"
#include "attn/tasks/value.hpp"
#include "tasks/pictures.hpp"
#include "tasks/tasks.hpp"

namespace attn::tasks {
namespace {

struct CanvasCounts {
  std::size_t by_digits[4] = {};  ///< canvases with one, two and three digits
  std::map<std::string, std::size_t> words;
  std::size_t captions = 0;  ///< different ones
  double most_frequent = 0.0;
};

CanvasCounts counts_of(std::span<const Example> canvases) {
  CanvasCounts counts;
  std::map<std::string, std::size_t> captions;
  for (const Example& canvas : canvases) {
    ++counts.by_digits[std::min<std::size_t>(3, canvas.boxes.size())];
    ++captions[canvas.targets.front()];
    for (const std::int64_t token : caption_tokens(canvas.targets.front()))
      ++counts.words[caption_text({token})];
  }
  counts.captions = captions.size();
  std::size_t most = 0;
  for (const auto& [caption, count] : captions) most = std::max(most, count);
  counts.most_frequent = 100.0 * static_cast<double>(most) /
                         static_cast<double>(std::max<std::size_t>(1, canvases.size()));
  return counts;
}

nlohmann::json facts_json(const Corpus& corpus, std::span<const Example> samples) {
  const DigitParts parts = load_digits([](std::string_view) {});
  const CanvasCounts counts = counts_of(corpus.test);
  nlohmann::json json{
      {"digits",
       {{"train", parts.train.size()},
        {"development", parts.development.size()},
        {"test", parts.test.size()}}},
      {"test_canvases",
       {{"count", corpus.test.size()},
        {"with_digits", {counts.by_digits[1], counts.by_digits[2], counts.by_digits[3]}},
        {"captions", counts.captions},
        {"words", counts.words},
        {"most_frequent_caption", counts.most_frequent}}}};
  for (const Example& sample : samples) {
    nlohmann::json digits = nlohmann::json::array();
    for (const Box& box : sample.boxes)
      digits.push_back({{"digit", std::stoi(box.label)},
                        {"x", box.x},
                        {"y", box.y},
                        {"width", box.width},
                        {"height", box.height}});
    json["samples"].push_back(
        {{"caption", sample.targets.front()}, {"digits", std::move(digits)}});
  }
  return json;
}

std::string facts_text(const Corpus& corpus) {
  const DigitParts parts = load_digits([](std::string_view) {});
  const CanvasCounts counts = counts_of(corpus.test);
  std::ostringstream text;
  text << "\n  digits of MNIST: " << parts.train.size() << " train, "
       << parts.development.size() << " development, " << parts.test.size()
       << " test; parts share none\n  test canvases: " << corpus.test.size() << ", of which "
       << counts.by_digits[1] << " with one digit, " << counts.by_digits[2] << " with two, "
       << counts.by_digits[3] << " with three\n  captions: " << counts.captions
       << " different ones; saying the most frequent is right on " << std::fixed
       << std::setprecision(1) << counts.most_frequent << " %\n";
  return text.str();
}

using Pixels = std::vector<std::uint8_t>;

/// The part "canvas" is what models learn from and stays as it is; a "picture" is of any size.
Pixels canvas_of(const Input& input) {
  if (const auto* canvas = input.find<Picture>("canvas")) return canvas->pixels;
  const auto* picture = input.find<Picture>("picture");
  if (picture == nullptr) fail("attn::tasks::caption: there is no picture");
  return fit_to_canvas(grey_of(*picture), picture->width, picture->height);
}

std::vector<std::string> words_of(const Answer& answer) {
  std::vector<std::string> words;
  words.reserve(answer.target.size());
  for (const std::int64_t word : answer.target) words.push_back(caption_text({word}));
  return words;
}

class CaptionAnswers final : public Model {
 public:
  explicit CaptionAnswers(CaptionModel model) : model_(std::move(model)) {}

  const Task& task() const override { return caption_task(); }
  nn::Module& module() const override { return *model_.model; }
  std::string kind() const override { return "captioner"; }
  std::string variant() const override { return models::name_of(looking()); }

  std::string refusal(const Input& input) const override {
    const auto* canvas = input.find<Picture>("canvas");
    const auto* picture = canvas != nullptr ? canvas : input.find<Picture>("picture");
    if (picture == nullptr) return "is missing; there is nothing to describe";
    return colours_refusal(*picture);
  }

  std::vector<Reply> answer(std::span<const Input> inputs, const Choices&,
                            const Done& done) const override {
    std::vector<Reply> replies;
    while (replies.size() < inputs.size()) {
      const auto rest = inputs.subspan(replies.size());
      std::vector<Pixels> canvases;
      for (const Input& input : rest.first(std::min(rest.size(), kAtOnce)))
        canvases.push_back(canvas_of(input));
      for (Answer& said : caption(model_, canvases)) {
        Reply& reply = replies.emplace_back();
        reply.answers.push_back(said);
        reply.pieces.emplace_back().answers.push_back(std::move(said));
      }
      if (done) done(static_cast<std::int64_t>(replies.size()));
    }
    return replies;
  }

  maps::Map map(const Input& input, const Piece& piece, std::string_view) const override {
    return caption_map(piece.answers.front(), canvas_of(input), looking());
  }

  nlohmann::json json_of(const Input& input, const Reply& reply, Detail) const override {
    const Answer& best = reply.answers.front();
    return {
        {"text", best.text},
        {"words", words_of(best)},
        {"map", nlohmann::json::parse(maps::to_json(map(input, reply.pieces.front(), {})))}};
  }

  nlohmann::json line_of(const std::string& name, const Input&, const Reply& reply,
                         Detail) const override {
    const Answer& best = reply.answers.front();
    auto weights = nlohmann::json::array();
    for (std::size_t step = 0; step <= best.target.size(); ++step)
      weights.push_back(caption_weights(best, step));
    return {{"image", files::printable(name, 4096)},
            {"text", best.text},
            {"words", words_of(best)},
            {"log_probability", best.log_probability},
            {"grid", model_.model->grid()},
            {"gates", best.numbers.at("gates")},
            {"weights", std::move(weights)}};
  }

 private:
  /// Answered between two reports.
  static constexpr std::size_t kAtOnce = 256;

  models::Looking looking() const { return model_.model->options().looking; }

  CaptionModel model_;
};

class CaptionTask final : public Task {
 public:
  const TaskCard& card() const override {
    static const TaskCard kCard{
        .name = "caption",
        .about = "a picture of digits is described",
        .title = "Caption a picture of handwritten digits",
        .help =
            "The models that ship learnt from canvases of one to three handwritten digits "
            "(MNIST):\n"
            "\"a five\", \"seven left of three\", \"four above nine left of two\". Pictures of "
            "your own are\n"
            "PNG, JPEG or GIF files of any size with digits on a plain background, dark or "
            "light. soft "
            "attention\n"
            "mixes all places of the picture, hard attention looks at one for each word.\n"
            "\nExamples:\n"
            "    attn caption --sample 5\n"
            "    attn caption --sample 5 --save-samples canvases\n"
            "    attn caption canvases/canvas-0001.png --map looked.svg\n"
            "    attn caption --attention hard --json mine.png",
        .metric = "exact match",
        .score = "exact",
        .variant_flag = "attention",
        .variants = {"soft", "hard"},
        .one_example = "canvas",
        .examples = "canvases",
        .reads = TaskCard::Reads::pictures,
        .argument = "images",
        .argument_type = "FILE",
        .argument_help = "PNG, JPEG or GIF files"};
    return kCard;
  }

  std::unique_ptr<Model> load(const std::filesystem::path& folder) const override {
    return std::make_unique<CaptionAnswers>(load_caption_model(folder));
  }

  std::vector<std::string> fields() const override { return {"pixels", "picture"}; }

  Input input_of(const nlohmann::json& request) const override {
    constexpr auto kPixels = static_cast<std::size_t>(kCanvasSide * kCanvasSide);
    const auto field = request.find("pixels");
    if (const auto picture = request.find("picture"); picture != request.end()) {
      if (field != request.end()) fail("the fields \"pixels\" and \"picture\" are both there");
      return picture_in_request(*picture);
    }
    if (field == request.end()) fail("the field \"pixels\" is missing, or \"picture\"");
    auto pixels = field->is_string() ? maps::from_base64(field->get_ref<const std::string&>())
                                     : std::nullopt;
    if (!pixels || pixels->size() != kPixels)
      fail("the field \"pixels\" must be ", kPixels,
           " bytes in base64: 64 rows of 64 grey values");
    return Picture{kCanvasSide, kCanvasSide, 1, *std::move(pixels)};
  }

  TrainingRun defaults(const nlohmann::json& asked, const Corpus*) const override {
    const auto attention = nlohmann::json::json_pointer("/model/attention");
    const bool hard = asked.contains(attention) && asked[attention] == "hard";
    CaptionSettings settings;
    settings.model.looking = hard ? models::Looking::hard : models::Looking::soft;
    TrainingRun run;
    run.task = name();
    run.what = tasks::json_of(settings);
    run.how = {.rate = 2e-3,
               .warm_up = 500,
               .clip = hard ? 5.0 : 1.0,
               .average = 0.998,
               .evaluate_every = 500,
               .evaluate_on = 500,
               .patience = 0};
    return run;
  }

  void read(const nlohmann::json& object, const std::string& where,
            nlohmann::json& what) const override {
    nlohmann::json changed = what;
    for (const char* member : {"model", "loss", "canvases"})
      if (object.contains(member)) changed[member].merge_patch(object.at(member));
    what = tasks::json_of(caption_settings(changed, where));
  }
  std::vector<std::string> required() const override { return {"model", "loss", "canvases"}; }

  std::vector<Setting> settings() const override {
    using About = Setting::About;
    using Kind = Setting::Kind;
    const auto number = [](const char* flag, const char* member, const char* help,
                           Kind kind = Kind::real, double least = 0.0,
                           double most = std::numeric_limits<double>::infinity()) {
      return Setting{flag, member, About::loss, "Caption", help, kind, {}, least, most};
    };
    return {Setting{"attention", "model.attention", About::model, "Caption",
                    "Kind of attention of a caption model", Kind::name, card().variants},
            number("canvases", "canvases", "Pictures in a batch; default 32", Kind::whole, 1,
                   1 << 16),
            number("doubly", "loss.doubly",
                   "Weight of the doubly stochastic term (soft attention)"),
            number("reward", "loss.reward", "Weight of the REINFORCE term (hard attention)"),
            number("entropy", "loss.entropy", "Weight of the entropy term (hard attention)"),
            number("soft-share", "loss.soft_probability",
                   "Share of captions trained with soft weights (hard attention)", Kind::real,
                   0.0, 1.0)};
  }

  std::string misfit(const TrainingRun& run) const override {
    return run.how.self_critical > 0.0 ? "--self-critical is of the tasks on text; --attention "
                                         "hard learns from --reward"
                                       : "";
  }

  /// Train is empty: its canvases are composed as they are needed.
  Corpus corpus(const nlohmann::json&, const Say& say) const override {
    const DigitParts parts = load_digits(say);
    Corpus corpus;
    corpus.name = "MNIST digits";
    corpus.development = development_canvases(parts.development, kTestCanvases);
    corpus.test = test_canvases(parts.test, kTestCanvases);
    corpus.shuffled = true;
    return corpus;
  }

  std::unique_ptr<Learner> learner(const TrainingRun& run, const Corpus&,
                                   const TrainingTools& tools) const override {
    return caption_learner(run, std::make_shared<const DigitParts>(load_digits(tools.say)));
  }

  Scores score(std::span<const Example> examples,
               std::span<const Reply> replies) const override {
    std::vector<Answer> answers;
    for (const Reply& reply : replies) answers.push_back(reply.answers.front());
    return score_captions(examples, answers);
  }

  std::vector<Contender> contenders() const override {
    return {{"soft", "soft attention", {{"model", {{"attention", "soft"}}}}},
            {"hard", "hard attention", {{"model", {{"attention", "hard"}}}}}};
  }

  nlohmann::json facts(const Corpus& corpus, std::span<const Example> samples) const override {
    return facts_json(corpus, samples);
  }
  std::string facts_text(const Corpus& corpus) const override {
    return tasks::facts_text(corpus);
  }
};

}  // namespace

const Task& caption_task() {
  static const CaptionTask kTask;
  return kTask;
}

}  // namespace attn::tasks
