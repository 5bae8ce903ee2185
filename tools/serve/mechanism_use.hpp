/// Which task or command uses a mechanism: a model that ships, a contender of `attn compare`, a
/// flag of training, or a lesson. The mechanisms do not know who is above them.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <span>
#include <string>
#include <string_view>

namespace attn::serve {

struct MechanismUse {
  std::string_view mechanism;
  std::string_view by;      ///< the task or command; "": none
  std::string_view file;    ///< where it is used, in the source tree
  std::string_view symbol;  ///< the name by which that file uses it
  std::string_view why{};   ///< of one that nothing uses: why not
};

/// One for each mechanism of the registry, by name.
std::span<const MechanismUse> mechanism_uses();
/// Null for a mechanism of the user's own.
const MechanismUse* find_use(std::string_view mechanism);
/// "attn cloze", or "no task: ..."; "" for a mechanism of the user's own.
std::string use_text(std::string_view mechanism);

}  // namespace attn::serve
