#include "tasks/paint/network.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/nn/init.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/learner.hpp"
#include "attn/tasks/network.hpp"
#include "attn/tasks/value.hpp"
#include "attn/tensor/ops/index.hpp"
#include "attn/tensor/ops/loss.hpp"
#include "attn/tensor/ops/normalise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tensor.hpp"
#include "tasks/dice.hpp"
#include "tasks/fit_picture.hpp"
#include "tasks/paint/decoder.hpp"
#include "tasks/paint/pixels.hpp"
#include "tasks/pictures.hpp"

namespace attn::tasks::paint {
namespace {

/// Half a thing does not tell how large all of it will be: a picture is scaled as a whole.
constexpr PictureFit kFit{.side = kSide,
                          .least_thing = 0.0,
                          .largest_thing = static_cast<double>(kSide),
                          .wanted_thing = static_cast<double>(kSide)};
constexpr double kDefaultRows = 14.0;  ///< of a picture that is completed
/// Of the lessons that tell the class; the others teach to paint without one.
constexpr std::int64_t kOneInWithClass = 4;
constexpr std::size_t kPixelsShown = 8;  ///< of a map

struct Wish {
  const char* name;
  double least;
  double most;
  bool whole;
};
constexpr Wish kWishes[] = {{kClass, 0, kClasses - 1, true},
                            {kSeed, 0, 4294967295.0, true},
                            {kRows, 1, kSide - 1, true},
                            {kTemperature, 0.01, 100, false}};

/// What is wrong with a number that was said; "": nothing.
std::string problem_with(const Wish& wish, const std::string& text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool fits = error == std::errc() && end == text.data() + text.size() &&
                    number >= wish.least && number <= wish.most &&
                    (!wish.whole || number == std::floor(number));
  if (fits) return "";
  return std::string("has the ") + wish.name + " " + files::in_quotes(text) + "; " +
         (wish.whole ? "a whole number" : "a number") + " from " +
         nlohmann::json(wish.least).dump() + " to " + nlohmann::json(wish.most).dump() +
         " is accepted";
}

/// Only of what problem_with found nothing in.
double number_of(const Input& input, const char* name, double otherwise) {
  const auto* text = input.find<std::string>(name);
  return text == nullptr ? otherwise : std::stod(*text);
}

const Picture* known_picture(const Input& input) {
  const auto* fixed = input.find<Picture>(kFixed);
  return fixed != nullptr ? fixed : input.find<Picture>("picture");
}

Tensor tensor_of(const std::vector<Bits>& pictures) {
  std::vector<float> numbers;
  numbers.reserve(pictures.size() * kPixels);
  for (const Bits& bits : pictures) numbers.insert(numbers.end(), bits.begin(), bits.end());
  return Tensor::from(numbers, {static_cast<std::int64_t>(pictures.size()), 1, kSide, kSide});
}

Tensor targets_of(const std::vector<Bits>& pictures) {
  std::vector<std::int64_t> ids;
  ids.reserve(pictures.size() * kPixels);
  for (const Bits& bits : pictures) ids.insert(ids.end(), bits.begin(), bits.end());
  return Tensor::from(ids, {static_cast<std::int64_t>(pictures.size()), kPixels});
}

/// Two rows a line.
std::string text_of(const Bits& bits) {
  constexpr const char* kShapes[] = {" ", "\u2580", "\u2584", "\u2588"};
  std::string text;
  for (std::int64_t row = 0; row < kSide; row += 2) {
    std::string line;
    std::size_t end = 0;
    for (std::int64_t column = 0; column < kSide; ++column) {
      const int upper = bits[static_cast<std::size_t>(row * kSide + column)];
      const int lower = bits[static_cast<std::size_t>((row + 1) * kSide + column)];
      line += kShapes[upper + 2 * lower];
      if (upper + lower > 0) end = line.size();
    }
    text += (row == 0 ? "" : "\n") + line.substr(0, end);
  }
  return text;
}

class PaintNetwork final : public Network {
 public:
  explicit PaintNetwork(const DecoderOptions& options)
      : decoder_(add_unnamed(PixelDecoder(options))) {}

  std::string kind() const override { return "pixel_decoder"; }

  Learner::Lesson loss(std::span<const Example* const> batch) const override {
    const std::uint64_t seed = nn::random().next();
    std::vector<Bits> pictures;
    std::vector<std::int64_t> classes;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto at = batch[i]->parts.find(kDigit);
      const auto* digit =
          at == batch[i]->parts.end() ? nullptr : std::get_if<Picture>(&at->second);
      if (digit == nullptr || digit->pixels.size() != kPixels)
        fail("attn paint: ", batch[i]->id, " has no digit to draw pixels of");
      pictures.push_back(draw_bits(digit->pixels, seed, i));
      const bool tells_class = Dice(seed, batch.size() + i).between(1, kOneInWithClass) == 1;
      classes.push_back(tells_class ? batch[i]->targets.front().front() - '0' : kClasses);
    }
    const auto rows = static_cast<std::int64_t>(batch.size());
    const Tensor logits = decoder_.logits(tensor_of(pictures).to(device()),
                                          Tensor::from(classes, {rows}).to(device()));
    return {cross_entropy(logits, targets_of(pictures).to(device())), rows * kPixels};
  }

  std::int64_t cost(const Example&) const override { return 1; }

  std::string refusal(const Input& input) const override {
    for (const Wish& wish : kWishes)
      if (const auto* text = input.find<std::string>(wish.name))
        if (std::string problem = problem_with(wish, *text); !problem.empty()) return problem;
    const Picture* picture = known_picture(input);
    if (picture == nullptr)
      return input.parts.contains("text") ? "is a text; a picture, or nothing, is accepted"
                                          : "";
    if (std::string problem = picture_problem(*picture); !problem.empty()) return problem;
    if (input.find<Picture>(kFixed) != nullptr &&
        (picture->channels != 1 || picture->width != kSide || picture->height != kSide))
      return "is not of " + std::to_string(kSide) + " x " + std::to_string(kSide) + " pixels";
    return "";
  }

  std::vector<Reply> answer(std::span<const Input> inputs, const Choices&) const override {
    std::vector<Reply> replies(inputs.size());
    std::vector<Bits> read;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (const auto* picture = inputs[i].find<Picture>(kFixed)) {
        read.push_back(bits_of(*picture));
        places.push_back(i);
        continue;
      }
      replies[i] = reply_of(paint_picture(inputs[i]));
    }
    const std::vector<double> nats = read_nats(read);
    for (std::size_t i = 0; i < places.size(); ++i) {
      Answer answer;
      answer.log_probability = answer.score = -nats[i];
      answer.text = std::to_string(nats[i]) + " nats";
      answer.finished = true;
      replies[places[i]] = reply_of(std::move(answer));
    }
    return replies;
  }

  maps::Map map(const Input& input, const Piece& piece, std::string_view) const override {
    const Answer& answer = piece.answers.front();
    const auto* picture = answer.output ? std::get_if<Picture>(&*answer.output) : nullptr;
    if (picture == nullptr) picture = known_picture(input);
    if (picture == nullptr) fail("attn paint: there is no picture to draw a map of");
    const Bits bits = bits_of(*picture);
    maps::Image image;
    image.title = "what pixels looked at";
    image.caption =
        "For some pixels (boxes), how much each place weighed when they were painted: the mean "
        "of all heads and layers. A place knows the pixels before it.";
    image.width = image.height = static_cast<std::size_t>(kSide);
    image.pixels = picture->pixels;
    const Tensor weights_of_all = mean_weights(bits, class_of(input));
    for (const std::int64_t at : shown_pixels(bits)) {
      std::vector<float> weights = weights_of_all.select(0, at).contiguous().to_vector<float>();
      for (float& weight : weights) weight = std::clamp(weight, 0.0f, 1.0f);
      const std::int64_t row = at / kSide;
      const std::int64_t column = at % kSide;
      maps::Box box{static_cast<double>(column), static_cast<double>(row), 1.0, 1.0, {}, ""};
      image.steps.push_back(
          {"row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1),
           maps::Matrix{image.height, image.width, std::move(weights)},
           {std::move(box)}});
    }
    return image;
  }

 private:
  static std::int64_t class_of(const Input& input) {
    return static_cast<std::int64_t>(number_of(input, kClass, static_cast<double>(kClasses)));
  }

  static Reply reply_of(Answer answer) {
    Reply reply;
    reply.answers.push_back(answer);
    reply.pieces.emplace_back().answers.push_back(std::move(answer));
    return reply;
  }

  Tensor classes(std::int64_t one, std::size_t rows) const {
    return Tensor::from(std::vector<std::int64_t>(rows, one), {static_cast<std::int64_t>(rows)})
        .to(device());
  }

  /// Of each picture, without its class.
  std::vector<double> read_nats(const std::vector<Bits>& pictures) const {
    constexpr std::size_t kAtOnce = 16;
    std::vector<double> nats;
    for (std::size_t begin = 0; begin < pictures.size(); begin += kAtOnce) {
      const auto first = pictures.begin() + static_cast<std::ptrdiff_t>(begin);
      const std::vector<Bits> some(first, first + static_cast<std::ptrdiff_t>(std::min(
                                                      kAtOnce, pictures.size() - begin)));
      const Tensor log_probs = log_softmax(
          decoder_.logits(tensor_of(some).to(device()), classes(kClasses, some.size()))
              .to(DType::f32));
      const Tensor right = gather(log_probs, 2, targets_of(some).to(device()).unsqueeze(2));
      for (const float log_probability : sum(right.squeeze(2), 1).to_vector<float>())
        nats.push_back(-static_cast<double>(log_probability));
    }
    return nats;
  }

  Answer paint_picture(const Input& input) const {
    Bits bits(kPixels, 0);
    std::int64_t known = 0;
    if (const auto* picture = input.find<Picture>("picture")) {
      known = kSide * static_cast<std::int64_t>(number_of(input, kRows, kDefaultRows));
      const Bits half =
          bits_of({kSide, kSide, 1,
                   fit_picture(grey_of(*picture), picture->width, picture->height, kFit)});
      std::copy_n(half.begin(), known, bits.begin());
    }
    const double temperature = number_of(input, kTemperature, 1.0);
    Random stream(static_cast<std::uint64_t>(number_of(input, kSeed, 1.0)));
    const auto draws = uniform({kPixels}, 0.0, 1.0, stream).to_vector<float>();
    // One picture grows in place; the decoder reads only what is painted.
    const Tensor pixels = tensor_of({bits});
    PixelDecoder::Canvas canvas;
    Answer answer;
    Tensor logits =
        decoder_.begin(pixels.to(device()), known, classes(class_of(input), 1), canvas);
    for (std::int64_t at = known; at < kPixels; ++at) {
      if (at > known) logits = decoder_.next(pixels.to(device()), at, canvas);
      const auto two = logits.to(DType::f32).to_vector<float>();
      const double more = static_cast<double>(two[1]) - static_cast<double>(two[0]);
      const bool ink = static_cast<double>(draws[static_cast<std::size_t>(at)]) <
                       1.0 / (1.0 + std::exp(-more / temperature));
      answer.log_probability -= std::log1p(std::exp(ink ? -more : more));
      bits[static_cast<std::size_t>(at)] = ink ? 1 : 0;
      pixels.mutable_data<float>()[at] = ink ? 1.0f : 0.0f;
    }
    answer.score = answer.log_probability;
    answer.finished = true;
    answer.text = text_of(bits);
    answer.output = picture_of(bits);
    return answer;
  }

  /// Mean over layers and heads, [784, 784].
  Tensor mean_weights(const Bits& bits, std::int64_t one) const {
    const std::vector<Tensor> layers =
        decoder_.weights(tensor_of({bits}).to(device()), classes(one, 1));
    Tensor total;
    for (const Tensor& layer : layers) {
      const Tensor each = mean(layer.select(0, 0), 0);
      total = total.defined() ? total + each : each;
    }
    return (total * (1.0 / static_cast<double>(layers.size()))).to(DType::f32).to(Device::cpu);
  }

  /// Some that are ink, from the first to the last; of an empty picture those of its middle
  /// row.
  static std::vector<std::int64_t> shown_pixels(const Bits& bits) {
    std::vector<std::int64_t> ink;
    for (std::int64_t i = 0; i < kPixels; ++i)
      if (bits[static_cast<std::size_t>(i)] != 0) ink.push_back(i);
    if (ink.empty())
      for (std::int64_t i = 0; i < kSide; ++i) ink.push_back(kSide / 2 * kSide + i);
    std::vector<std::int64_t> shown;
    const std::size_t count = std::min(kPixelsShown, ink.size());
    shown.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      shown.push_back(ink[(2 * i + 1) * ink.size() / (2 * count)]);
    return shown;
  }

  PixelDecoder decoder_;
};

}  // namespace

std::shared_ptr<Network> make_network(const nlohmann::json& model, const std::string& where) {
  const auto whole = [&](const char* member) {
    return files::to_int(files::member(model, member, where), where);
  };
  const DecoderOptions options{
      .dim = whole("dim"),
      .layers = whole("layers"),
      .heads = whole("heads"),
      .feed_forward = whole("feed_forward"),
      .dropout = files::to_double(files::member(model, "dropout", where), where)};
  if (options.dim % options.heads != 0)
    fail<FileError>(where, ": dim is ", options.dim, " and heads ", options.heads,
                    "; heads that divide dim are accepted");
  return std::make_shared<PaintNetwork>(options);
}

}  // namespace attn::tasks::paint
