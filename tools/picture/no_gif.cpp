// GIF in a build without libgif, which says so.

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/error.hpp"
#include "tools/picture/picture_file.hpp"

namespace attn::picture {

void read_gif(const Source& source, Which, const Take&) {
  fail<FileError>(source.where,
                  " is GIF, and attn-picture was built without libgif (on Debian "
                  "libgif-dev)");
}

}  // namespace attn::picture
