// Calls from several threads and from inside tasks of the pool give their own results.

#include <gtest/gtest.h>

#include <cstddef>
#include <thread>
#include <vector>

#include "attn/core/thread_pool.hpp"
#include "attn/kernels/cpu/attention.hpp"
#include "kernels/support/problem.hpp"
#include "kernels/support/run.hpp"

namespace attn {
namespace {

test::Spec spec_of(int i) {
  test::Spec spec{.seed = "callers " + std::to_string(i),
                  .kv_heads = 2,
                  .group = 2,
                  .queries = i % 2 == 0 ? 120 : 3,
                  .keys = 260,
                  .channels = 5 + i,
                  .value_channels = 7};
  spec.scores = {{test::ScoreKind::bias, test::Sharing::query_only}};
  return spec;
}

TEST(ThreadedCalls, CallersOnSeveralThreadsGetTheirOwnResults) {
  constexpr int kCallers = 4;
  std::vector<test::Results> want(kCallers), got(kCallers);
  for (int i = 0; i < kCallers; ++i)
    want[static_cast<std::size_t>(i)] =
        test::run_cpu(test::Problem(spec_of(i)), {.threads = 1});
  std::vector<std::thread> callers;
  for (int i = 0; i < kCallers; ++i)
    callers.emplace_back([&, i] {
      const test::Problem problem(spec_of(i));
      for (int again = 0; again < 3; ++again)
        got[static_cast<std::size_t>(i)] = test::run_cpu(problem, {.threads = 3});
    });
  for (std::thread& caller : callers) caller.join();
  for (std::size_t i = 0; i < kCallers; ++i) EXPECT_TRUE(got[i] == want[i]) << "caller " << i;
}

TEST(ThreadedCalls, CallsInsideATaskOfThePoolAreRight) {
  constexpr int kTasks = 6;
  std::vector<test::Results> want(kTasks), got(kTasks);
  for (int i = 0; i < kTasks; ++i)
    want[static_cast<std::size_t>(i)] =
        test::run_cpu(test::Problem(spec_of(i)), {.threads = 1});
  ThreadPool::shared().parallel_for(kTasks, 3, [&](int i) {
    got[static_cast<std::size_t>(i)] = test::run_cpu(test::Problem(spec_of(i)), {.threads = 3});
  });
  for (std::size_t i = 0; i < kTasks; ++i) EXPECT_TRUE(got[i] == want[i]) << "task " << i;
}

}  // namespace
}  // namespace attn
