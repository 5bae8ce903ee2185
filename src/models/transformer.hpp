/// The Transformer, with norms in front. Vaswani et al., 2017, arXiv:1706.03762; Xiong et al.,
/// 2020, arXiv:2002.04745.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"

namespace attn::models {

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
