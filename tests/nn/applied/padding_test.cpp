#include "nn/support/padding.hpp"

#include <gtest/gtest.h>

#include <string>

namespace attn {
namespace {

TEST(Applied, NothingPastALengthIsSeen) {
  test::expect_padding_ignored("location_aware", {{"encoder", "valid_lens"}});
  test::expect_padding_ignored("location_aware", {{"encoder", "valid_lens"}},
                               {{"normaliser", std::string("smooth")}});
  test::expect_padding_ignored("las_attention", {{"encoder", "valid_lens"}});
  test::expect_padding_ignored("las_listener_layer", {{"x", "valid_lens"}});
  test::expect_padding_ignored("rush_summariser_attention", {{"src", "valid_lens"}});
  test::expect_padding_ignored("entailment_word_by_word", {{"premise", "premise_lens"},
                                                           {"hypothesis", "hypothesis_lens"}});
}

}  // namespace
}  // namespace attn
