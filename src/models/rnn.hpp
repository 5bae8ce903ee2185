/// Sequence to sequence without attention: the baseline. One vector is all the decoder knows of
/// the source, but it knows it at every step. Cho et al., 2014, arXiv:1406.1078.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"

namespace attn::models {

/// c = the last states of a GRU that reads both ways, s_t = GRU([y_t; c], s_{t-1}),
/// logits = E tanh(W [s_t; c; y_t]): the Bahdanau model with one context for all steps.
std::shared_ptr<Seq2Seq> make_rnn(const ModelOptions& options);

}  // namespace attn::models
