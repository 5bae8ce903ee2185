/// Bahdanau's model: the decoder looks at the source before each word. Bahdanau, Cho and
/// Bengio, 2015, arXiv:1409.0473.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"

namespace attn::models {

/// h_j = a GRU that reads both ways, c_t = additive(s_{t-1}, h), s_t = GRU([c_t; y_t],
/// s_{t-1}), logits = E tanh(W [s_t; c_t; y_t]).
///
/// With copying a pointer-generator looks once more, with s_t, which has read y_t: what it sees
/// takes the place of c_t in front of the logits, and its weights copy. Smoothing does not
/// apply then.
std::shared_ptr<Seq2Seq> make_bahdanau(const ModelOptions& options);

}  // namespace attn::models
