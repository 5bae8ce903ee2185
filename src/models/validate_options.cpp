// Which options fit together.

#include <cstdint>

#include "attn/core/error.hpp"
#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"

namespace attn::models {
namespace {

constexpr const char* kWhere = "attn::models::validate: ";

void at_least(std::int64_t least, std::int64_t value, const char* name) {
  if (value < least) fail(kWhere, name, " is ", value, "; ", least, " and more are accepted");
}

void share(double value, const char* name) {
  if (!(value >= 0.0 && value < 1.0))
    fail(kWhere, name, " is ", value, "; 0 <= ", name, " < 1 is accepted");
}

void check_transformer(const ModelOptions& options) {
  at_least(1, options.heads, "heads");
  at_least(1, options.feed_forward, "feed_forward");
  if (options.dim % options.heads != 0)
    fail(kWhere, "dim ", options.dim, " and ", options.heads,
         " heads; heads that divide dim are accepted");
  if (options.positions == Positions::rotary && options.dim / options.heads % 2 != 0)
    fail(kWhere, "rotary positions with ", options.dim / options.heads,
         " channels a head; an even number is accepted");
}

void check_vocabularies(const ModelOptions& options) {
  at_least(kUnknown + 1, options.source_vocabulary, "source_vocabulary");
  at_least(kUnknown + 1, options.target_vocabulary, "target_vocabulary");
  const bool shared = options.tie == Tie::all || options.copy != Copy::none;
  if (shared && options.source_vocabulary != options.target_vocabulary)
    fail(kWhere, "vocabularies of ", options.source_vocabulary, " and ",
         options.target_vocabulary,
         "; copying and tie 'all' accept one vocabulary for source and target");
}

}  // namespace

void validate(const ModelOptions& options) {
  check_vocabularies(options);
  at_least(1, options.dim, "dim");
  at_least(1, options.encoder_layers, "encoder_layers");
  at_least(1, options.decoder_layers, "decoder_layers");
  at_least(1, options.kernel, "kernel");
  at_least(0, options.window, "window");
  at_least(1, options.max_source, "max_source");
  share(options.dropout, "dropout");
  share(options.word_dropout, "word_dropout");
  if (options.kind == Kind::transformer) check_transformer(options);
  const bool copies = options.kind == Kind::transformer || options.kind == Kind::bahdanau;
  if (options.copy != Copy::none && !copies)
    fail(kWhere, "this kind copies nothing; transformer and bahdanau do");
}

}  // namespace attn::models
