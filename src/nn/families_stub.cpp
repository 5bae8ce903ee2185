// Scaffolding while families are being written; removed before the end of the work.
#include "nn/families.hpp"
namespace attn::nn {
#define STUB(name)                                                   \
  __attribute__((weak)) std::vector<Mechanism> name##_mechanisms() { \
    return {};                                                       \
  }
STUB(pooling)
STUB(regression) STUB(heads) STUB(seq2seq) STUB(local) STUB(hard) STUB(glimpse) STUB(position)
    STUB(pointer) STUB(vision) STUB(composed) STUB(applied) STUB(control)
}  // namespace attn::nn
