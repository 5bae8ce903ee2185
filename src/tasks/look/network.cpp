#include "tasks/look/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/json.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/fit_picture.hpp"
#include "tasks/look/reader.hpp"
#include "tasks/look/scene.hpp"
#include "tasks/pictures.hpp"

namespace attn::tasks::look {
namespace {

using Pixels = std::vector<std::uint8_t>;

/// Digits of MNIST are 20 pixels tall.
constexpr double kLeastThing = 15.0;
constexpr double kLargestThing = 27.0;
constexpr double kWantedThing = 20.0;
/// A fitted picture without a pixel as bright as this has nothing on it.
constexpr std::uint8_t kFaintest = 64;

const Picture* picture_of(const Input& input) {
  for (const char* part : {kScene, "picture", kDigit})
    if (const auto* picture = input.find<Picture>(part)) return picture;
  return nullptr;
}

/// Bytes to bf16 once: it holds 0 to 1 in 256 steps to three digits, and half as much travels
/// to a GPU.
Tensor tensor_of(const Pixels& pixels, std::int64_t side) {
  static const std::array<BFloat16, 256> kNumbers = [] {
    std::array<BFloat16, 256> numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = BFloat16(static_cast<float>(i) / 255.0f);
    return numbers;
  }();
  const std::int64_t size = side * side;
  const std::int64_t count = static_cast<std::int64_t>(pixels.size()) / size;
  const Tensor scenes = Tensor::empty({count, 1, side, side}, DType::bf16);
  auto* to = scenes.mutable_data<BFloat16>();
  ThreadPool::shared().parallel_for(
      static_cast<int>(count), ThreadPool::default_threads(), [&](int scene) {
        const auto* from = pixels.data() + scene * size;
        std::transform(from, from + size, to + scene * size,
                       [](std::uint8_t pixel) { return kNumbers[pixel]; });
      });
  return scenes;
}

std::string two_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

/// What was said of one scene.
struct Outcome {
  std::vector<std::vector<float>> chances;  ///< of each class, after each step
  std::vector<std::pair<double, double>> places;
};

std::size_t best_of(const std::vector<float>& chances) {
  return static_cast<std::size_t>(std::max_element(chances.begin(), chances.end()) -
                                  chances.begin());
}

class LookNetwork final : public Network {
 public:
  LookNetwork(std::shared_ptr<Reader> reader, const SceneKind& scene,
              const ReaderOptions& options, std::string kind)
      : reader_(std::move(reader)), scene_(scene), options_(options), kind_(std::move(kind)) {
    add<nn::Module>("reader", *reader_);
  }

  std::string kind() const override { return kind_; }
  std::string variant() const override { return std::string(scene_.name); }

  Learner::Lesson loss(std::span<const Example* const> batch) const override {
    DigitList digits;
    std::vector<std::int64_t> labels;
    for (const Example* example : batch) {
      const auto at = example->parts.find(kDigit);
      const auto* digit =
          at == example->parts.end() ? nullptr : std::get_if<Picture>(&at->second);
      if (digit == nullptr || digit->pixels.size() != kDigitSide * kDigitSide)
        fail("attn look: ", example->id, " has no digit to compose a scene of");
      digits.emplace_back(digit->pixels);
      labels.push_back(example->targets.front().front() - '0');
    }
    const Pixels scenes = compose_scenes(digits, scene_, nn::random().next());
    return {reader_->loss(on_device(scenes), labels), static_cast<std::int64_t>(labels.size())};
  }

  std::int64_t cost(const Example&) const override { return 1; }

  std::string refusal(const Input& input) const override {
    const Picture* picture = picture_of(input);
    if (picture == nullptr) return "is missing; there is nothing to look at";
    if (std::string problem = picture_problem(*picture); !problem.empty()) return problem;
    if (input.find<Picture>(kScene) != nullptr) {
      if (picture->channels == 1 && picture->width == scene_.side &&
          picture->height == scene_.side)
        return "";
      return "is no scene of " + std::to_string(scene_.side) + " x " +
             std::to_string(scene_.side) + " pixels";
    }
    const Pixels fitted = scene_of(input);
    return *std::max_element(fitted.begin(), fitted.end()) >= kFaintest
               ? ""
               : "has nothing on it; a digit, dark on light or light on dark, is accepted";
  }

  std::vector<Reply> answer(std::span<const Input> inputs, const Choices&) const override {
    std::vector<Reply> replies;
    for (const Outcome& outcome : read(inputs)) {
      Answer best = answer_of(outcome);
      Reply& reply = replies.emplace_back();
      reply.pieces.emplace_back().answers.push_back(best);
      reply.answers.push_back(std::move(best));
    }
    return replies;
  }

  maps::Map map(const Input& input, const Piece&, std::string_view) const override {
    const Outcome outcome = read(std::span(&input, 1)).front();
    maps::Image image;
    image.title = std::to_string(best_of(outcome.chances.back()));
    image.caption = "A convolutional net reads all places at once; it has no path.";
    image.width = image.height = static_cast<std::size_t>(scene_.side);
    image.pixels = scene_of(input);
    if (outcome.places.empty()) return image;
    image.caption =
        "The path of the glimpses, and at each what it saw: a small sharp square inside "
        "larger, "
        "coarser ones. The number is what was said after it, and how likely that seemed.";
    image.steps.push_back({"the path", {}, {}, path_of(outcome)});
    for (std::size_t t = 0; t < outcome.places.size(); ++t) {
      const std::size_t label = best_of(outcome.chances[t]);
      image.steps.push_back({std::to_string(t + 1) + ": " + std::to_string(label) + " (" +
                                 two_digits(outcome.chances[t][label]) + ")",
                             {},
                             squares_of(outcome.places[t]),
                             {}});
    }
    return image;
  }

 private:
  Tensor on_device(const Pixels& scenes) const {
    return tensor_of(scenes, scene_.side).to(device()).to(DType::f32);
  }

  Pixels scene_of(const Input& input) const {
    const Picture& picture = *picture_of(input);
    if (input.find<Picture>(kScene) != nullptr) return picture.pixels;
    return fit_picture(grey_of(picture), picture.width, picture.height,
                       {.side = scene_.side,
                        .least_thing = kLeastThing,
                        .largest_thing = kLargestThing,
                        .wanted_thing = kWantedThing});
  }

  std::vector<Outcome> read(std::span<const Input> inputs) const {
    Pixels all;
    std::vector<std::uint64_t> seeds;
    for (const Input& input : inputs) {
      const Pixels scene = scene_of(input);
      seeds.push_back(seed_of(scene));
      all.insert(all.end(), scene.begin(), scene.end());
    }
    const Reading reading = reader_->read(on_device(all), seeds);
    const auto chances = softmax(reading.logits.to(DType::f32)).to_vector<float>();
    const auto places = reading.places.defined()
                            ? reading.places.to(DType::f64).to_vector<double>()
                            : std::vector<double>();
    const auto steps = static_cast<std::size_t>(reading.logits.size(1));
    std::vector<Outcome> result(inputs.size());
    for (std::size_t row = 0; row < inputs.size() * steps; ++row) {
      Outcome& outcome = result[row / steps];
      const auto first = chances.begin() + static_cast<std::ptrdiff_t>(row) *
                                               static_cast<std::ptrdiff_t>(kClasses);
      outcome.chances.emplace_back(first, first + kClasses);
      if (!places.empty()) outcome.places.emplace_back(places[2 * row], places[2 * row + 1]);
    }
    return result;
  }

  /// The middle of the retina in pixels, as nn::glimpse has it.
  maps::Point middle_of(const std::pair<double, double>& place) const {
    const auto pixel = [&](double at) {
      return std::floor((at + 1.0) / 2.0 * static_cast<double>(scene_.side));
    };
    return {pixel(place.first), pixel(place.second)};
  }

  std::vector<maps::Point> path_of(const Outcome& outcome) const {
    std::vector<maps::Point> path;
    path.reserve(outcome.places.size());
    for (const auto& place : outcome.places) path.push_back(middle_of(place));
    return path;
  }

  std::vector<maps::Box> squares_of(const std::pair<double, double>& place) const {
    const maps::Point middle = middle_of(place);
    std::vector<maps::Box> squares;
    auto size = static_cast<double>(options_.patch);
    for (std::int64_t scale = 0; scale < options_.scales; ++scale, size *= 2.0)
      squares.push_back({middle.x - size / 2.0, middle.y - size / 2.0, size, size, {}, ""});
    return squares;
  }

  Answer answer_of(const Outcome& outcome) const {
    Labels labels;
    for (std::size_t label = 0; label < outcome.chances.back().size(); ++label)
      labels.push_back({std::to_string(label), outcome.chances.back()[label]});
    std::stable_sort(labels.begin(), labels.end(),
                     [](const Label& a, const Label& b) { return a.score > b.score; });
    Answer best;
    best.text = labels.front().name;
    best.score = labels.front().score;
    best.log_probability = std::log(labels.front().score);
    best.finished = true;
    best.numbers[kMultiplyAdds] = {static_cast<float>(reader_->multiply_adds())};
    best.output = std::move(labels);
    if (outcome.places.empty()) return best;
    Table path{{"glimpse", "x", "y", "digit", "probability"}, {}};
    for (std::size_t t = 0; t < outcome.places.size(); ++t) {
      const maps::Point middle = middle_of(outcome.places[t]);
      const std::size_t label = best_of(outcome.chances[t]);
      path.rows.push_back({std::to_string(t + 1), std::to_string(std::lround(middle.x)),
                           std::to_string(std::lround(middle.y)), std::to_string(label),
                           static_cast<double>(outcome.chances[t][label])});
    }
    best.table = std::move(path);
    return best;
  }

  std::shared_ptr<Reader> reader_;
  SceneKind scene_;
  ReaderOptions options_;
  std::string kind_;
};

}  // namespace

std::shared_ptr<Network> make_network(const nlohmann::json& model, const std::string& where) {
  const auto text = [&](const char* member) {
    return files::to_text(files::member(model, member, where), where);
  };
  const auto whole = [&](const char* member) {
    return files::to_int(files::member(model, member, where), where);
  };
  const SceneKind& scene = scene_named(text("scene"));
  const ReaderOptions options{
      .side = scene.side,
      .glimpses = whole("glimpses"),
      .patch = whole("patch"),
      .scales = whole("scales"),
      .what = whole("what"),
      .where = whole("where"),
      .hidden = whole("hidden"),
      .sigma = files::to_double(files::member(model, "sigma", where), where),
      .policy = text("policy") == "random" ? Policy::random : Policy::learnt,
      .reinforce = files::to_double(files::member(model, "reinforce", where), where),
      .state_learns_places = text("core") == "both"};
  const std::string kind = text("kind");
  return std::make_shared<LookNetwork>(
      kind == "convolution" ? convolution_reader(options) : glimpse_reader(options), scene,
      options, kind);
}

}  // namespace attn::tasks::look
