// Which options fit together, and how large they may be.

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"

namespace attn::models {
namespace {

constexpr const char* kWhere = "attn::models::validate: ";

// Files and flags may ask for anything; what nobody trains is refused before memory is taken.
constexpr std::int64_t kMostChannels = 1 << 16;
constexpr std::int64_t kMostLayers = 1 << 10;
constexpr std::int64_t kMostHeads = 1 << 10;
constexpr std::int64_t kWidestConvolution = 1 << 10;
constexpr std::int64_t kMostPlaces = (1 << 16) + 1;  ///< the longest source, and its end
constexpr std::int64_t kMostWordsKnown = 1 << 24;
constexpr std::int64_t kMostWeights = std::int64_t{1} << 30;

void within(std::int64_t least, std::int64_t most, std::int64_t value, const char* name) {
  if (value < least || value > most)
    fail(kWhere, name, " is ", value, "; ", least, " to ", most, " are accepted");
}

/// Each size may be fine and the model still be larger than any memory. A layer of any kind has
/// at least dim^2 weights.
void check_weights(const ModelOptions& options) {
  const std::int64_t layers = options.encoder_layers + options.decoder_layers;
  const std::int64_t least = layers * options.dim * options.dim +
                             options.target_vocabulary * options.dim;  // at most 2^44
  if (least > kMostWeights)
    fail(kWhere, "dim ", options.dim, ", ", layers, " layers and ", options.target_vocabulary,
         " target tokens make at least ", least, " weights; up to ", kMostWeights,
         " by this count are accepted");
}

void share(double value, const char* name) {
  if (!(value >= 0.0 && value < 1.0))
    fail(kWhere, name, " is ", value, "; 0 <= ", name, " < 1 is accepted");
}

void check_transformer(const ModelOptions& options) {
  within(1, kMostHeads, options.heads, "heads");
  within(1, kMostChannels, options.feed_forward, "feed_forward");
  if (options.dim % options.heads != 0)
    fail(kWhere, "dim ", options.dim, " and ", options.heads,
         " heads; heads that divide dim are accepted");
  if (options.positions == Positions::rotary && options.dim / options.heads % 2 != 0)
    fail(kWhere, "rotary positions with ", options.dim / options.heads,
         " channels a head; an even number is accepted");
}

void check_vocabularies(const ModelOptions& options) {
  within(kUnknown + 1, kMostWordsKnown, options.source_vocabulary, "source_vocabulary");
  within(kUnknown + 1, kMostWordsKnown, options.target_vocabulary, "target_vocabulary");
  const bool shared = options.tie == Tie::all || options.copy != Copy::none;
  if (shared && options.source_vocabulary != options.target_vocabulary)
    fail(kWhere, "vocabularies of ", options.source_vocabulary, " and ",
         options.target_vocabulary,
         "; copying and tie 'all' accept one vocabulary for source and target");
}

}  // namespace

void validate(const ModelOptions& options) {
  check_vocabularies(options);
  within(1, kMostChannels, options.dim, "dim");
  within(1, kMostLayers, options.encoder_layers, "encoder_layers");
  within(1, kMostLayers, options.decoder_layers, "decoder_layers");
  within(1, kWidestConvolution, options.kernel, "kernel");
  within(0, kMostPlaces, options.window, "window");
  within(1, kMostPlaces, options.max_source, "max_source");
  check_weights(options);
  share(options.dropout, "dropout");
  share(options.word_dropout, "word_dropout");
  if (options.kind == Kind::transformer) check_transformer(options);
  const bool copies = options.kind == Kind::transformer || options.kind == Kind::bahdanau;
  if (options.copy != Copy::none && !copies)
    fail(kWhere, "this kind copies nothing; transformer and bahdanau do");
}

}  // namespace attn::models
