/// Recordings as numbers, and how each is changed whenever it is learnt from, so that a few
/// hundred of them teach what many would.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <vector>

#include "attn/tensor/random.hpp"
#include "tasks/las/features.hpp"

namespace attn::tasks::las {

struct Recording {
  std::int64_t frames = 0;
  std::vector<float> values;  ///< [frames, kBands]
};

Recording recording_of(const LogMel& sound);

/// The mean of each band taken away, then divided by the deviation of all bands together: how
/// loud a voice is and how a room colours it is nothing that was said.
void normalise(Recording& recording);

/// Shares that bound the draws; 0 leaves that part out.
struct Changes {
  double speed = 0.0;       ///< faster or slower by up to this
  double warp = 0.0;        ///< bands move up or down by up to this: other throats
  double band_mask = 0.0;   ///< of the bands, hidden in one go
  double frame_mask = 0.0;  ///< of the frames, hidden in one go
  std::int64_t masks = 2;   ///< of each kind
};

/// As if it lasted `factor` times as long, between neighbouring frames a line.
Recording stretched(const Recording& recording, double factor);
/// What band b held stands in band b / factor; beyond the last band the last is repeated.
Recording warped(const Recording& recording, double factor);

/// Another speed and another throat, before normalise(). It keeps at least `least` frames.
Recording changed(const Recording& recording, const Changes& changes, std::int64_t least,
                  Random& random);
/// Bands and frames become 0, the mean, after normalise(). Park et al., 2019,
/// arXiv:1904.08779.
void mask(Recording& recording, const Changes& changes, Random& random);

/// One behind the other.
Recording joined(const Recording& first, const Recording& second);

/// In [0, 1).
double draw(Random& random);

}  // namespace attn::tasks::las
