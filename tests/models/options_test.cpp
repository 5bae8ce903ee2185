#include "attn/models/options.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "attn/core/error.hpp"
#include "attn/models/seq2seq.hpp"
#include "models/support/batches.hpp"

namespace attn::models {
namespace {

constexpr std::string_view kNamed[] = {"kind",      "score", "reach", "feeding",
                                       "positions", "copy",  "tie"};

/// The message of what it throws.
template <class E, class Run>
std::string told(const Run& run) {
  try {
    run();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ModelOptions, EveryNamedValueComesBackFromJson) {
  for (const std::string_view name : kNamed) {
    ASSERT_GE(option_values(name).size(), 2u) << name;
    for (const std::string& value : option_values(name)) {
      ModelOptions options;
      set_option(options, name, value);
      EXPECT_EQ(from_json(to_json(options), "here"), options) << name << " " << value;
    }
  }
}

TEST(ModelOptions, NumbersComeBackFromJson) {
  ModelOptions options;
  for (const auto* name :
       {"source_vocabulary", "target_vocabulary", "dim", "encoder_layers", "decoder_layers",
        "heads", "feed_forward", "kernel", "window", "max_source"}) {
    EXPECT_TRUE(option_values(name).empty());
    const ModelOptions before = options;
    set_option(options, name, "77");
    EXPECT_NE(options, before) << name;
  }
  set_option(options, "word-dropout", "0.15");
  EXPECT_EQ(options.word_dropout, 0.15);
  set_option(options, "dropout", "0.35");
  EXPECT_EQ(options.dropout, 0.35);
  EXPECT_EQ(from_json(to_json(options), "here"), options);
}

TEST(ModelOptions, WhatIsLeftOutKeepsItsDefault) {
  ModelOptions want;
  want.kind = Kind::luong;
  want.locality = Locality::predictive;
  EXPECT_EQ(from_json(R"({"kind": "luong", "reach": "local-p"})", "here"), want);
}

TEST(ModelOptions, AFlagMayWriteDashes) {
  ModelOptions options;
  set_option(options, "encoder-layers", "5");
  EXPECT_EQ(options.encoder_layers, 5);
}

TEST(ModelOptions, MistakesListWhatThereIs) {
  ModelOptions options;
  const auto kinds = told<InvalidArgument>([&] { set_option(options, "kind", "lstm"); });
  EXPECT_NE(kinds.find("convolutional"), std::string::npos) << kinds;
  const auto names = told<InvalidArgument>([&] { set_option(options, "depth", "2"); });
  EXPECT_NE(names.find("encoder_layers"), std::string::npos) << names;
  const auto here = told<InvalidArgument>([] { from_json(R"({"depth": 2})", "model.json"); });
  EXPECT_EQ(here.rfind("model.json", 0), 0u) << here;
  EXPECT_THROW(from_json(R"({"tie": "some"})", "here"), InvalidArgument);
  EXPECT_THROW(from_json("[]", "here"), InvalidArgument);
  for (const auto* text : {"{", R"({"dim": 1.5})", R"({"dim": "8"})", R"({"kind": 3})"})
    EXPECT_THROW(from_json(text, "here"), FileError) << text;
  for (const auto* value : {"", "8x", "1.5", " 8", "99999999999999999999"})
    EXPECT_THROW(set_option(options, "dim", value), InvalidArgument) << value;
}

TEST(ModelOptions, WhatDoesNotFitTogetherIsToldSo) {
  const ModelOptions good = test::tiny(Kind::transformer);
  EXPECT_NO_THROW(validate(good));
  const auto refuses = [&](auto change) {
    ModelOptions options = good;
    change(options);
    EXPECT_THROW(validate(options), InvalidArgument) << to_json(options);
    EXPECT_THROW(make_model(options), InvalidArgument) << to_json(options);
  };
  refuses([](ModelOptions& o) { o.heads = 3; });
  refuses([](ModelOptions& o) { o.heads = 8; });  // rotary turns pairs of channels
  refuses([](ModelOptions& o) { o.dim = 0; });
  refuses([](ModelOptions& o) { o.decoder_layers = 0; });
  refuses([](ModelOptions& o) { o.dropout = 1.0; });
  refuses([](ModelOptions& o) { o.source_vocabulary = 3; });
  // Sizes of damaged files and mistyped flags, before any memory is taken.
  refuses([](ModelOptions& o) { o.dim = 1000000; });
  refuses([](ModelOptions& o) { o.encoder_layers = 1000000000; });
  refuses([](ModelOptions& o) { o.decoder_layers = 100000; });
  refuses([](ModelOptions& o) { o.heads = o.dim = 4096; });
  refuses([](ModelOptions& o) { o.feed_forward = 1 << 20; });
  refuses([](ModelOptions& o) { o.kernel = 1 << 20; });
  refuses([](ModelOptions& o) { o.window = 1 << 20; });
  refuses([](ModelOptions& o) { o.max_source = 1 << 20; });
  refuses([](ModelOptions& o) { o.source_vocabulary = std::int64_t{1} << 62; });
  refuses([](ModelOptions& o) {  // each size for itself would do
    o.dim = 65536;
    o.encoder_layers = o.decoder_layers = 1024;
  });
  refuses([](ModelOptions& o) {
    o.tie = Tie::all;
    ++o.source_vocabulary;
  });
  refuses([](ModelOptions& o) {
    o.copy = Copy::pointer;
    ++o.target_vocabulary;
  });
  refuses([](ModelOptions& o) {
    o.kind = Kind::luong;
    o.copy = Copy::pointer;
  });
}

TEST(ModelOptions, SizesThatAreTrainedAreAccepted) {
  ModelOptions options = test::tiny(Kind::transformer);
  options.dim = 1024;
  options.heads = 16;
  options.feed_forward = 4096;
  options.encoder_layers = options.decoder_layers = 48;
  options.max_source = 65537;  // the longest source that a flag allows, and its end
  options.source_vocabulary = options.target_vocabulary = 64000;
  EXPECT_NO_THROW(validate(options));
}

TEST(ModelOptions, EveryKindIsMade) {
  for (const std::string& kind : option_values("kind")) {
    ModelOptions options = test::tiny(Kind::rnn);
    set_option(options, "kind", kind);
    const auto model = make_model(options);
    ASSERT_NE(model, nullptr) << kind;
    EXPECT_GT(model->parameter_count(), 0) << kind;
  }
}

}  // namespace
}  // namespace attn::models
