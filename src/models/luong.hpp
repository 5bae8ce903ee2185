/// Luong's model: the decoder looks at the source after each step, everywhere or near one
/// place. Luong, Pham and Manning, 2015, arXiv:1508.04025.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "attn/models/options.hpp"
#include "attn/models/seq2seq.hpp"

namespace attn::models {

/// e_j = an LSTM that reads both ways, h_t = LSTM([y_t; a_{t-1}]), c_t = attention of h_t on e,
/// a_t = tanh(W_c [c_t; h_t]), logits = E a_t. Without feeding h_t = LSTM(y_t).
std::shared_ptr<Seq2Seq> make_luong(const ModelOptions& options);

}  // namespace attn::models
