/// The sizes of tiles, each with its reason.

#pragma once

// SPDX-License-Identifier: Apache-2.0

namespace attn::cpu {

/// Forward: a tile of scores is kTileRows x kTileCols, 48 KiB of fp32, and stays in L1 or L2
/// between the two products. 24 is a multiple of the rows that every instruction set holds in
/// registers. 512 columns were 1-2 % faster than 256 with AVX-512, and no slower on Zen 3;
/// 48 rows were 20 % slower with AVX-512.
inline constexpr int kTileRows = 24;
inline constexpr int kTileCols = 512;
/// Rows of a tile under a mask, where half as high means half as much scored for nothing.
/// Splitting off what a mask cuts, 6 rows at a time, was slower: more passes, each shorter.
inline constexpr int kMaskedRows = 12;
/// Row tiles that pass over one block of keys before the next block comes: 4 x 24 queries use
/// a block (256 KiB at 64 channels) while it is in L2.
inline constexpr int kRowTiles = 4;

/// Backward: a block of keys stays in L2 with its gradients while all queries pass by. Scores
/// and their gradients are kBackwardRows x kBackwardCols. 256 columns against 128: 80 % of peak
/// instead of 76 % (D64, Sapphire Rapids), 80 % instead of 73 % (Zen 3).
inline constexpr int kBackwardRows = 96;
inline constexpr int kBackwardCols = 256;

/// Between rows of the backward's tiles: an odd number of cache lines, since rows 512 bytes
/// apart would share an eighth of L1's sets (Zen 3, D128: 62 % of peak so, 78 % now).
inline constexpr int kBackwardStride = kBackwardCols + 16;

/// Heads with at most this many queries are used where they lie in the backward pass.
inline constexpr int kShortQueries = 64;

/// Rows that are read, transformed and packed at a time; a multiple of every panel.
inline constexpr int kPackRows = 64;

}  // namespace attn::cpu
