/// Convolutional sequence to sequence: no recurrence, and every layer of the decoder looks at
/// the source. Gehring et al., 2017, arXiv:1705.03122.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"

namespace attn::models {

/// A layer is h + GLU(conv(h)), with the authors' sqrt(1/2) on every sum; in the decoder it
/// reads the past alone and attends (nn::MultiStepAttention) before the sum. Positions are
/// sinusoids, so that no length is the last one. Decoding keeps the last kernel - 1 inputs of
/// each layer. The weights shown are the mean over the layers.
std::shared_ptr<Seq2Seq> make_convolutional(const ModelOptions& options);

}  // namespace attn::models
