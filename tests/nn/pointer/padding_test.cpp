#include "nn/support/padding.hpp"

#include <gtest/gtest.h>

namespace attn {
namespace {

TEST(Pointers, NothingPastALengthIsSeen) {
  test::expect_padding_ignored("pointer", {{"encoder_states", "valid_lens"}});
  for (const bool coverage : {true, false})
    test::expect_padding_ignored("pointer_generator",
                                 {{"encoder_states", "valid_lens"},
                                  {"src_ids", "valid_lens"},
                                  {"targets", "target_lens"}},
                                 {{"coverage", coverage}});
  test::expect_padding_ignored("biaffine_attention", {{"heads", "valid_lens"}});
}

}  // namespace
}  // namespace attn
