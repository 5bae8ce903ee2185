/// The sizes of tiles, each with its reason.

#pragma once

// SPDX-License-Identifier: Apache-2.0

namespace attn::cpu {

/// Forward: a tile of scores is kTileRows x kTileCols, 24 KiB of fp32, and lives in L1 between
/// the two products. 24 is a multiple of the rows that every instruction set holds in registers.
inline constexpr int kTileRows = 24;
inline constexpr int kTileCols = 256;
/// Row tiles that pass over one block of keys before the next block comes: 4 x 24 queries use
/// a block (128 KiB at 64 channels) while it is in L2.
inline constexpr int kRowTiles = 4;

/// Backward: a block of keys stays in L2 with its gradients while all queries pass by. Scores
/// and their gradients are kBackwardRows x kBackwardCols.
inline constexpr int kBackwardRows = 96;
inline constexpr int kBackwardCols = 128;

/// Between rows of the backward's tiles: an odd number of cache lines, since rows 512 bytes
/// apart would share an eighth of L1's sets (Zen 3, D128: 62 % of peak so, 78 % now).
inline constexpr int kBackwardStride = kBackwardCols + 16;

/// Rows that are read, transformed and packed at a time; a multiple of every panel.
inline constexpr int kPackRows = 64;

}  // namespace attn::cpu
