/// The kinds of sequence-to-sequence models, each by the function that makes one with fresh
/// parameters. make_model (attn/models/seq2seq.hpp) chooses by ModelOptions::kind.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "attn/models/seq2seq.hpp"

namespace attn::models {

/// Sequence to sequence without attention: the baseline. One vector is all the decoder knows of
/// the source, but it knows it at every step. Cho et al., 2014, arXiv:1406.1078.
///
/// c = the last states of a GRU that reads both ways, s_t = GRU([y_t; c], s_{t-1}),
/// logits = E tanh(W [s_t; c; y_t]): the Bahdanau model with one context for all steps.
std::shared_ptr<Seq2Seq> make_rnn(const ModelOptions& options);

/// Bahdanau's model: the decoder looks at the source before each word. Bahdanau, Cho and
/// Bengio, 2015, arXiv:1409.0473.
///
/// h_j = a GRU that reads both ways, c_t = additive(s_{t-1}, h), s_t = GRU([c_t; y_t],
/// s_{t-1}), logits = E tanh(W [s_t; c_t; y_t]).
///
/// With copying a pointer-generator looks once more, with s_t, which has read y_t: what it sees
/// takes the place of c_t in front of the logits, and its weights copy. Smoothing does not
/// apply then.
std::shared_ptr<Seq2Seq> make_bahdanau(const ModelOptions& options);

/// Luong's model: the decoder looks at the source after each step, everywhere or near one
/// place. Luong, Pham and Manning, 2015, arXiv:1508.04025.
///
/// e_j = an LSTM that reads both ways, h_t = LSTM([y_t; a_{t-1}]), c_t = attention of h_t on e,
/// a_t = tanh(W_c [c_t; h_t]), logits = E a_t. Without feeding h_t = LSTM(y_t).
std::shared_ptr<Seq2Seq> make_luong(const ModelOptions& options);

/// Convolutional sequence to sequence: no recurrence, and every layer of the decoder looks at
/// the source. Gehring et al., 2017, arXiv:1705.03122.
///
/// A layer is h + GLU(conv(h)), with the authors' sqrt(1/2) on every sum; in the decoder it
/// reads the past alone and attends (nn::MultiStepAttention) before the sum. Positions are
/// sinusoids, so that no length is the last one. Decoding keeps the last kernel - 1 inputs of
/// each layer. The weights shown are the mean over the layers.
std::shared_ptr<Seq2Seq> make_convolutional(const ModelOptions& options);

/// The Transformer, with norms in front. Vaswani et al., 2017, arXiv:1706.03762; Xiong et al.,
/// 2020, arXiv:2002.04745.
///
/// Encoder and decoder layers x + F(norm(x)), a norm behind each stack. Positions are added
/// sines (sinusoidal), turn queries and keys of self-attention (rotary), or are learnt vectors
/// of distances up to 16 in each self-attention (relative). Dropout acts on embeddings,
/// attention weights (not those of relative positions), hidden features and what a part adds.
///
/// Copying is nn::PointerGenerator on the states of the decoder, whose weights are then those
/// that a decoding shows; without it they are the last layer's, averaged over heads. Copying
/// does not smooth its targets.
std::shared_ptr<Seq2Seq> make_transformer(const ModelOptions& options);

}  // namespace attn::models
