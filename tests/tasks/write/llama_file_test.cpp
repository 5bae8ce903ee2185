// Llama's files: the model that is read against slow loops of double over the same bytes, and
// files that are damaged.

#include "tasks/write/llama_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/tasks/answer.hpp"
#include "attn/tasks/fetch/prepared.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/byte_pieces.hpp"
#include "support/tolerance.hpp"
#include "tasks/scratch.hpp"
#include "tasks/write/data.hpp"

namespace attn::tasks {
namespace {

using Tokens = std::vector<std::int64_t>;
using Vector = std::vector<double>;

/// The numbers of such a file, read as its own program reads them: one vector at a time, one
/// number at a time.
class SlowLlama {
 public:
  explicit SlowLlama(std::string_view bytes) {
    std::int32_t head[7];
    std::memcpy(head, bytes.data(), sizeof head);
    dim_ = head[0];
    hidden_ = head[1];
    layers_ = head[2];
    heads_ = head[3];
    shared_ = head[4];
    vocabulary_ = head[5];
    channels_ = dim_ / heads_;
    numbers_.resize((bytes.size() - sizeof head) / sizeof(float));
    std::memcpy(numbers_.data(), bytes.data() + sizeof head, numbers_.size() * sizeof(float));
    const int memory = channels_ * shared_;
    std::size_t at = 0;
    const auto place = [&at](int count) {
      at += static_cast<std::size_t>(count);
      return at - static_cast<std::size_t>(count);
    };
    words_ = place(vocabulary_ * dim_);
    self_norm_ = place(layers_ * dim_);
    query_ = place(layers_ * dim_ * dim_);
    key_ = place(layers_ * memory * dim_);
    value_ = place(layers_ * memory * dim_);
    out_ = place(layers_ * dim_ * dim_);
    feed_norm_ = place(layers_ * dim_);
    gate_ = place(layers_ * hidden_ * dim_);
    down_ = place(layers_ * dim_ * hidden_);
    up_ = place(layers_ * hidden_ * dim_);
    norm_ = place(dim_);
    keys_.resize(static_cast<std::size_t>(layers_));
    values_.resize(static_cast<std::size_t>(layers_));
  }

  /// Behind a token, the scores of the next.
  Vector read(std::int64_t token) {
    Vector x;
    for (int i = 0; i < dim_; ++i) x.push_back(number(words_, token * dim_ + i));
    for (int layer = 0; layer < layers_; ++layer) {
      add(x, attended(layer, rms(x, self_norm_, layer)));
      add(x, fed(layer, rms(x, feed_norm_, layer)));
    }
    ++position_;
    return times(words_, 0, vocabulary_, rms(x, norm_, 0));
  }

 private:
  double number(std::size_t matrix, std::int64_t at) const {
    return static_cast<double>(numbers_[matrix + static_cast<std::size_t>(at)]);
  }
  /// Rows of the matrix of a layer.
  Vector times(std::size_t matrix, int layer, int rows, const Vector& x) const {
    const auto width = static_cast<std::int64_t>(x.size());
    Vector y;
    for (std::int64_t row = 0; row < rows; ++row) {
      double sum = 0.0;
      for (std::int64_t i = 0; i < width; ++i)
        sum +=
            number(matrix, (layer * rows + row) * width + i) * x[static_cast<std::size_t>(i)];
      y.push_back(sum);
    }
    return y;
  }
  Vector rms(const Vector& x, std::size_t weight, int layer) const {
    double squares = 0.0;
    for (const double one : x) squares += one * one;
    const double root = std::sqrt(squares / dim_ + 1e-5);
    Vector y;
    for (int i = 0; i < dim_; ++i)
      y.push_back(x[static_cast<std::size_t>(i)] / root * number(weight, layer * dim_ + i));
    return y;
  }
  static void add(Vector& x, const Vector& y) {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }
  void turn(Vector& x) const {
    for (std::size_t i = 0; i < x.size(); i += 2) {
      const double share = static_cast<double>(i % static_cast<std::size_t>(channels_)) /
                           static_cast<double>(channels_);
      const double angle = position_ * std::pow(10000.0, -share);
      const double a = x[i];
      const double b = x[i + 1];
      x[i] = a * std::cos(angle) - b * std::sin(angle);
      x[i + 1] = a * std::sin(angle) + b * std::cos(angle);
    }
  }
  Vector attended(int layer, const Vector& in) {
    const int memory = channels_ * shared_;
    Vector query = times(query_, layer, dim_, in);
    Vector key = times(key_, layer, memory, in);
    turn(query);
    turn(key);
    auto& keys = keys_[static_cast<std::size_t>(layer)];
    auto& values = values_[static_cast<std::size_t>(layer)];
    keys.push_back(key);
    values.push_back(times(value_, layer, memory, in));
    Vector together;
    for (int head = 0; head < heads_; ++head) {
      const int from = head / (heads_ / shared_) * channels_;
      Vector weights;
      double sum = 0.0;
      for (const Vector& one : keys) {
        double score = 0.0;
        for (int c = 0; c < channels_; ++c)
          score += query[static_cast<std::size_t>(head * channels_ + c)] *
                   one[static_cast<std::size_t>(from + c)];
        weights.push_back(std::exp(score / std::sqrt(static_cast<double>(channels_))));
        sum += weights.back();
      }
      for (int c = 0; c < channels_; ++c) {
        double mean = 0.0;
        for (std::size_t j = 0; j < values.size(); ++j)
          mean += weights[j] / sum * values[j][static_cast<std::size_t>(from + c)];
        together.push_back(mean);
      }
    }
    return times(out_, layer, dim_, together);
  }
  Vector fed(int layer, const Vector& in) const {
    Vector hidden = times(up_, layer, hidden_, in);
    const Vector gate = times(gate_, layer, hidden_, in);
    for (std::size_t i = 0; i < hidden.size(); ++i)
      hidden[i] *= gate[i] / (1.0 + std::exp(-gate[i]));
    return times(down_, layer, dim_, hidden);
  }

  int dim_ = 0;
  int hidden_ = 0;
  int layers_ = 0;
  int heads_ = 0;
  int shared_ = 0;
  int vocabulary_ = 0;
  int channels_ = 0;
  std::vector<float> numbers_;
  std::size_t words_ = 0;
  std::size_t self_norm_ = 0;
  std::size_t query_ = 0;
  std::size_t key_ = 0;
  std::size_t value_ = 0;
  std::size_t out_ = 0;
  std::size_t feed_norm_ = 0;
  std::size_t gate_ = 0;
  std::size_t down_ = 0;
  std::size_t up_ = 0;
  std::size_t norm_ = 0;
  std::vector<std::vector<Vector>> keys_;  ///< [layer, position]
  std::vector<std::vector<Vector>> values_;
  double position_ = 0.0;
};

template <class T>
void put(std::string& bytes, const T& value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

/// A model of 262 tokens with weights that are drawn.
std::string made_up_model() {
  std::string bytes;
  for (const std::int32_t one : {8, 6, 2, 4, 2, 262, 24}) put(bytes, one);
  constexpr std::int64_t kFloats =
      262 * 8 + 2 * (8 + 64 + 32 + 32 + 64 + 8 + 3 * 48) + 8 + 24 * 2;
  Random random(5);
  for (const float one : normal({kFloats}, 0.0, 0.7, random).to_vector<float>())
    put(bytes, one);
  return bytes;
}

std::string made_up_tokens() {
  std::string bytes;
  put(bytes, std::int32_t{7});
  const auto token = [&](const std::string& text, float score) {
    put(bytes, score);
    put(bytes, static_cast<std::int32_t>(text.size()));
    bytes += text;
  };
  for (const char* mark : {"<unk>", "\n<s>\n", "\n</s>\n"}) token(mark, 0.0f);
  for (int byte = 0; byte < 256; ++byte) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    token({'<', '0', 'x', kDigits[byte / 16], kDigits[byte % 16], '>'}, 0.0f);
  }
  token(" a", -1.0f);
  token("b", -2.0f);
  token("ab", -3.0f);
  return bytes;
}

/// What the slow one writes behind a text, greedily.
Tokens continued(const std::string& bytes, Tokens tokens, std::size_t count) {
  SlowLlama slow(bytes);
  Vector scores;
  for (const std::int64_t token : tokens) scores = slow.read(token);
  Tokens written;
  while (written.size() < count) {
    const std::int64_t next =
        std::max_element(scores.begin() + 1, scores.end()) - scores.begin();
    if (next == 1 || next == 2) break;
    written.push_back(next);
    scores = slow.read(next);
  }
  return written;
}

class LlamaFileTest : public testing::Test {
 protected:
  std::shared_ptr<WriteNetwork> network(const std::string& bytes) const {
    return read_llama(bytes, read_llama_tokens(made_up_tokens(), 262, "tokens"), "model");
  }
  const std::string bytes_ = made_up_model();
};

TEST_F(LlamaFileTest, IsReadAsItsFormulasSay) {
  const auto model = network(bytes_);
  const Tokens ids{1, 259, 100, 260, 3, 259};
  const NoGrad off_the_tape;
  const auto got = model->model().logits(Tensor::from(ids, {1, 6})).to_vector<float>();
  SlowLlama slow(bytes_);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Vector want = slow.read(ids[i]);
    for (std::size_t j = 0; j < want.size(); ++j)
      EXPECT_TRUE(test::close(static_cast<double>(got[i * want.size() + j]), want[j],
                              test::kFloatModel));
  }
}

TEST_F(LlamaFileTest, WritesTheSameTokens) {
  const auto model = network(bytes_);
  const std::vector<Reply> replies = model->answer(std::vector<Input>{Input("ab a")}, {});
  const Answer& answer = replies.front().answers.front();
  // A space stands before the text.
  EXPECT_EQ(answer.source, (Tokens{1, 259, 260, 259}));
  const std::size_t until_the_window_ends = 20;
  Tokens written = answer.target;
  written.resize(std::min(written.size(), until_the_window_ends));
  EXPECT_EQ(written, continued(bytes_, answer.source, written.size()));
  EXPECT_FALSE(written.empty());
}

TEST_F(LlamaFileTest, OfTheStoriesWritesTheSameTokens) {
  if (!has_prepared(stories_file()) || !has_prepared(stories_tokens_file()))
    GTEST_SKIP() << "stories260K.bin and tok512.bin are not in the cache";
  const std::string bytes = read_prepared(stories_file(), "write");
  const auto model = read_llama(
      bytes, read_llama_tokens(read_prepared(stories_tokens_file(), "write"), 512, "tokens"),
      "stories");
  for (const char* prompt : {"Once upon a time", "Lily's dog was", ""}) {
    const std::vector<Reply> replies = model->answer(std::vector<Input>{Input(prompt)}, {});
    const Answer& answer = replies.front().answers.front();
    EXPECT_EQ(answer.target, continued(bytes, answer.source, 200)) << prompt;
  }
}

TEST_F(LlamaFileTest, LiesBesideItsTokens) {
  const Scratch scratch;
  const auto file = scratch.path() / "model.bin";
  std::ofstream(file, std::ios::binary) << bytes_;
  EXPECT_THROW(read_llama(file), FileError);  // no tokens
  std::ofstream(scratch.path() / "tok262.bin", std::ios::binary) << made_up_tokens();
  EXPECT_EQ(read_llama(file)->pieces().size(), 262);
}

TEST_F(LlamaFileTest, IsRefusedWhereItIsDamaged) {
  EXPECT_THROW(network(bytes_.substr(0, 20)), FileError);
  EXPECT_THROW(network(bytes_.substr(0, bytes_.size() - 4)), FileError);
  EXPECT_THROW(network(bytes_ + "abcd"), FileError);
  for (const std::size_t which : {0, 1, 2, 3, 4, 5, 6}) {
    std::string changed = bytes_;
    changed.replace(which * 4, 4, std::string("\xFF\xFF\xFF\x7F", 4));
    EXPECT_THROW(network(changed), FileError) << which;
  }
  const std::string tokens = made_up_tokens();
  EXPECT_THROW(read_llama_tokens(tokens.substr(0, 50), 262, "t"), FileError);
  EXPECT_THROW(read_llama_tokens(tokens, 261, "t"), FileError);
  EXPECT_THROW(read_llama_tokens(tokens, 263, "t"), FileError);
  std::string other = tokens;
  other.replace(other.find("<0x41>"), 6, "<0x42>");
  EXPECT_THROW(read_llama_tokens(other, 262, "t"), FileError);
}

}  // namespace
}  // namespace attn::tasks
