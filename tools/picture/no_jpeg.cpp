// JPEG in a build without libjpeg, which says so.

// SPDX-License-Identifier: Apache-2.0

#include "attn/core/error.hpp"
#include "tools/picture/picture_file.hpp"

namespace attn::picture {

Frame read_jpeg(const Source& source) {
  fail<FileError>(source.where,
                  " is JPEG, and attn-picture was built without libjpeg (on "
                  "Debian libjpeg-dev)");
}

}  // namespace attn::picture
