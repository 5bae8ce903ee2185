// The sentence encoder on the GPU gives the vectors of the CPU.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/tasks/embed/sentence_encoder.hpp"
#include "attn/tensor/tensor.hpp"
#include "gpu/same_on_gpu.hpp"
#include "tasks/embed/fake_encoder.hpp"
#include "tasks/scratch.hpp"

namespace attn::tasks {
namespace {

TEST(GpuSentenceEncoder, AgreesWithTheCpu) {
  SKIP_WITHOUT_GPU();
  const Scratch scratch;
  FakeEncoder().write(scratch.path());
  std::vector<std::string> texts;
  for (int i = 0; i < 300; ++i)
    for (const char* text : {"a", "abc", "ab ab ab ab ab", "z", "cab", "c c"})
      texts.emplace_back(text);
  const Tensor want = SentenceEncoder::load(scratch.path()).encode(texts);
  const Tensor got = SentenceEncoder::load(scratch.path(), Device::gpu).encode(texts);
  EXPECT_EQ(got.device(), Device::cpu);
  test::expect_close(got, want, test::gpu_tolerance(DType::f32, 64));
}

}  // namespace
}  // namespace attn::tasks
