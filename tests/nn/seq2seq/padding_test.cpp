#include "nn/support/padding.hpp"

#include <gtest/gtest.h>

namespace attn {
namespace {

TEST(Seq2Seq, NothingPastALengthIsSeen) {
  test::expect_padding_ignored("seq2seq_rnn", {{"src", "valid_lens"}});
  test::expect_padding_ignored("bahdanau_decoder", {{"enc_outputs", "valid_lens"}});
  test::expect_padding_ignored("bahdanau_rnnsearch", {{"src", "valid_lens"}});
  test::expect_padding_ignored("luong_decoder", {{"enc_outputs", "valid_lens"}});
}

}  // namespace
}  // namespace attn
