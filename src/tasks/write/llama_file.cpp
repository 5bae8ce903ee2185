#include "tasks/write/llama_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/nn/module.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/byte_pieces.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/write/network.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestModel = std::uint64_t{1} << 30;
constexpr std::uint64_t kLargestTokens = std::uint64_t{16} << 20;

/// FileNumbers of a file, one behind the other; FileError at its end.
class FileNumbers {
 public:
  FileNumbers(std::string_view bytes, const std::string& where)
      : bytes_(bytes), where_(where) {}

  template <class T>
  T next() {
    T value{};
    const std::string_view from = take(sizeof value);
    // The size is given.
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage)
    std::memcpy(&value, from.data(), sizeof value);
    return value;
  }
  std::string_view take(std::size_t count) {
    if (count > bytes_.size())
      fail<FileError>(where_, " ends early: ", count, " bytes were to come, ", bytes_.size(),
                      " are there");
    const std::string_view some = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return some;
  }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  const std::string& where_;
};

/// The seven numbers that such a file begins with.
struct Head {
  std::int64_t dim;
  std::int64_t hidden;
  std::int64_t layers;
  std::int64_t heads;
  std::int64_t key_value_heads;
  std::int64_t vocabulary;
  std::int64_t window;
  bool tie;

  std::int64_t channels() const { return dim / heads; }
  std::int64_t memory() const { return channels() * key_value_heads; }
  /// Floats behind them.
  std::int64_t floats() const {
    const std::int64_t layer = 2 * dim + 2 * dim * dim + 2 * memory() * dim + 3 * hidden * dim;
    return vocabulary * dim * (tie ? 1 : 2) + layers * layer + dim + window * channels();
  }
};

Head head_of(std::string_view bytes, const std::string& where) {
  FileNumbers numbers(bytes, where);
  const auto next = [&] { return static_cast<std::int64_t>(numbers.next<std::int32_t>()); };
  Head head{};
  for (std::int64_t* one : {&head.dim, &head.hidden, &head.layers, &head.heads,
                            &head.key_value_heads, &head.vocabulary, &head.window})
    *one = next();
  // A negative vocabulary tells that the output has a table of its own.
  head.tie = head.vocabulary > 0;
  if (!head.tie) head.vocabulary = -head.vocabulary;
  constexpr std::int64_t kMost = 1 << 18;
  for (const std::int64_t one : {head.dim, head.hidden, head.layers, head.heads,
                                 head.key_value_heads, head.vocabulary, head.window})
    if (one < 1 || one > kMost)
      fail<FileError>(where, " is no model in llama2.c's layout: a size of it is ", one);
  if (head.dim % head.heads != 0 || head.heads % head.key_value_heads != 0 ||
      head.channels() % 2 != 0)
    fail<FileError>(where, " is no model in llama2.c's layout: a dim of ", head.dim, ", ",
                    head.heads, " heads, ", head.key_value_heads, " of keys");
  const std::uint64_t want =
      7 * sizeof(std::int32_t) + sizeof(float) * static_cast<std::uint64_t>(head.floats());
  if (bytes.size() != want)
    fail<FileError>(where, " has ", bytes.size(), " bytes; a model of its sizes has ", want);
  return head;
}

}  // namespace

std::int64_t llama_tokens(std::string_view bytes, const std::string& where) {
  return head_of(bytes, where).vocabulary;
}

text::BytePieces read_llama_tokens(std::string_view bytes, std::int64_t count,
                                   const std::string& where) {
  using text::BytePieces;
  FileNumbers numbers(bytes, where);
  numbers.next<std::int32_t>();  // the longest
  std::vector<text::Piece> pieces;
  for (std::int64_t id = 0; id < count; ++id) {
    const auto score = numbers.next<float>();
    const auto length = numbers.next<std::int32_t>();
    if (length < 1) fail<FileError>(where, ": token ", id, " has a length of ", length);
    const std::string text(numbers.take(static_cast<std::size_t>(length)));
    if (id >= BytePieces::kFirstPiece) {
      if (!files::is_utf8(text)) fail<FileError>(where, ": token ", id, " is not UTF-8");
      pieces.push_back({text, score});
      continue;
    }
    if (id < BytePieces::kFirstByte) continue;  // marks
    constexpr char kDigits[] = "0123456789ABCDEF";
    const auto byte = static_cast<std::size_t>(id - BytePieces::kFirstByte);
    const std::string name{'<', '0', 'x', kDigits[byte >> 4U], kDigits[byte & 15U], '>'};
    if (text != name)
      fail<FileError>(where, ": token ", id, " is ", files::in_quotes(text), ", not the byte ",
                      name);
  }
  if (numbers.left() > 0)
    fail<FileError>(where, " goes on behind its ", count, " tokens; it is of another model");
  try {
    return BytePieces(std::move(pieces), BytePieces::Opening::space);
  } catch (const InvalidArgument& error) {
    fail<FileError>(where, ": ", error.what());
  }
}

nlohmann::json llama_options(std::string_view bytes, const std::string& where) {
  const Head head = head_of(bytes, where);
  return {{"variant", "stories"},
          {"vocabulary", head.vocabulary},
          {"dim", head.dim},
          {"layers", head.layers},
          {"rounds", 1},
          {"heads", head.heads},
          {"key_value_heads", head.key_value_heads},
          {"feed_forward", head.hidden},
          {"window", head.window},
          {"dropout", 0.0},
          {"norm", "rms"},
          {"feed", "swiglu"},
          {"positions", "rotary"},
          {"rotary_pairs", "interleaved"},
          {"tie", head.tie}};
}

std::shared_ptr<WriteNetwork> read_llama(std::string_view bytes, text::BytePieces pieces,
                                         const std::string& where) {
  const Head head = head_of(bytes, where);
  if (pieces.size() != head.vocabulary)
    fail<FileError>(where, " has ", head.vocabulary, " tokens, its vocabulary ", pieces.size());
  auto network = std::make_shared<WriteNetwork>(
      language_model_options(llama_options(bytes, where), pieces.size(), where),
      std::move(pieces), "stories");
  const NoGrad off_the_tape;
  const auto parameters = network->named_parameters();
  FileNumbers numbers(bytes, where);
  numbers.take(7 * sizeof(std::int32_t));
  // The next numbers become rows of a parameter.
  const auto fill = [&](const std::string& name, std::int64_t first_row, std::int64_t rows) {
    const Tensor whole = nn::find_tensor(parameters, name);
    Tensor part = whole.slice(0, first_row, first_row + rows);
    std::vector<float> values(static_cast<std::size_t>(part.numel()));
    const std::string_view from = numbers.take(values.size() * sizeof(float));
    std::memcpy(values.data(), from.data(), from.size());
    part.copy_from(Tensor::from(values, part.shape()));
  };
  const auto each_layer = [&](const char* name, std::int64_t first_row, std::int64_t rows) {
    for (std::int64_t layer = 0; layer < head.layers; ++layer)
      fill("layers." + std::to_string(layer) + "." + name, first_row, rows);
  };
  fill("words.weight", 0, head.vocabulary);
  each_layer("self_norm.weight", 0, head.dim);
  each_layer("self.in.weight", 0, head.dim);
  each_layer("self.in.weight", head.dim, head.memory());
  each_layer("self.in.weight", head.dim + head.memory(), head.memory());
  each_layer("self.out.weight", 0, head.dim);
  each_layer("feed_norm.weight", 0, head.dim);
  each_layer("feed.gate.weight", 0, head.hidden);
  each_layer("feed.out.weight", 0, head.dim);
  each_layer("feed.in.weight", 0, head.hidden);
  fill("norm.weight", 0, head.dim);
  // Cosines and sines of positions, which are computed here.
  numbers.take(static_cast<std::size_t>(head.window * head.channels()) * sizeof(float));
  if (!head.tie) fill("output.weight", 0, head.vocabulary);
  network->eval();
  return network;
}

std::shared_ptr<WriteNetwork> read_llama(const fs::path& file) {
  const std::string where = files::path_text(file);
  const std::string bytes = files::read_text(file, kLargestModel);
  const std::int64_t count = llama_tokens(bytes, where);
  std::error_code ignored;
  fs::path tokens = file.parent_path() / ("tok" + std::to_string(count) + ".bin");
  if (!fs::exists(tokens, ignored)) tokens = file.parent_path() / "tokenizer.bin";
  if (!fs::exists(tokens, ignored))
    fail<FileError>(where, " has ", count, " tokens; their file, tok", count,
                    ".bin or tokenizer.bin, is not beside it");
  return read_llama(bytes,
                    read_llama_tokens(files::read_text(tokens, kLargestTokens), count,
                                      files::path_text(tokens)),
                    where);
}

}  // namespace attn::tasks
