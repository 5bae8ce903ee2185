// The pool runs every task once, for any number of threads and callers, and takes no signals.

#include "attn/core/thread_pool.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <set>
#include <thread>
#include <vector>

namespace attn {
namespace {

TEST(ThreadPool, EveryTaskRunsOnceForAnyNumberOfThreads) {
  ThreadPool pool;
  for (const int threads : {1, 2, 3, 8})
    for (const int tasks : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tasks));
      pool.parallel_for(tasks, threads,
                        [&](int task) { ++runs[static_cast<std::size_t>(task)]; });
      for (const auto& count : runs) EXPECT_EQ(count.load(), 1);
    }
}

TEST(ThreadPool, ResultsAreVisibleToTheCaller) {
  ThreadPool pool;
  for (int again = 0; again < 200; ++again) {
    std::vector<int> plain(16, -1);
    pool.parallel_for(16, 4, [&](int task) { plain[static_cast<std::size_t>(task)] = task; });
    for (int task = 0; task < 16; ++task)
      ASSERT_EQ(plain[static_cast<std::size_t>(task)], task);
  }
}

TEST(ThreadPool, RunsOnAtMostAsManyThreadsAsAsked) {
  ThreadPool pool;
  pool.parallel_for(100, 6, [](int) {});  // workers that a later call must not invite
  std::atomic<int> inside{0}, most{0};
  pool.parallel_for(500, 2, [&](int) {
    const int now = ++inside;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    std::this_thread::yield();
    --inside;
  });
  EXPECT_LE(most.load(), 2);
}

TEST(ThreadPool, OneThreadIsTheCallers) {
  ThreadPool pool;
  std::set<std::thread::id> ids;
  std::vector<int> order;
  pool.parallel_for(5, 1, [&](int task) {
    ids.insert(std::this_thread::get_id());
    order.push_back(task);
  });
  EXPECT_EQ(ids, std::set<std::thread::id>{std::this_thread::get_id()});
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(ThreadPool, ATaskMayWaitForALowerOne) {
  ThreadPool pool;
  for (int again = 0; again < 20; ++again) {
    std::atomic<int> turn{0};
    pool.parallel_for(50, 4, [&](int task) {
      while (turn.load(std::memory_order_acquire) != task) yield_thread();
      turn.store(task + 1, std::memory_order_release);
    });
    EXPECT_EQ(turn.load(), 50);
  }
}

TEST(ThreadPool, TasksMayCallThePoolAgain) {
  ThreadPool pool;
  std::atomic<int> runs{0};
  pool.parallel_for(8, 4, [&](int) {
    pool.parallel_for(8, 4, [&](int) { pool.parallel_for(2, 4, [&](int) { ++runs; }); });
  });
  EXPECT_EQ(runs.load(), 128);
}

TEST(ThreadPool, SeveralCallersAreAllServed) {
  ThreadPool pool;
  std::atomic<int> runs{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int again = 0; again < 50; ++again) pool.parallel_for(10, 3, [&](int) { ++runs; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(runs.load(), 4 * 50 * 10);
}

TEST(ThreadPool, PoolsThatNeverRanOrJustRanCanGo) {
  for (int again = 0; again < 20; ++again) {
    ThreadPool unused;
    ThreadPool pool;
    pool.parallel_for(3, 3, [](int) {});
  }
}

TEST(ThreadPool, DefaultIsAtLeastOneThread) {
  EXPECT_GE(ThreadPool::default_threads(), 1);
}

/// What the mask of the thread that runs it says.
bool blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

/// A pool of two whose tasks meet: both threads take part.
template <class Look>
void on_both_threads(const Look& look) {
  ThreadPool pool;
  std::atomic<int> arrived{0};
  pool.parallel_for(2, 2, [&](int, int worker) {
    ++arrived;
    while (arrived < 2) yield_thread();
    look(worker);
  });
}

TEST(ThreadPool, WorkersTakeNoSignalsButThoseOfTheirOwnFaults) {
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGHUP, SIGPROF})
    on_both_threads([&](int worker) { EXPECT_EQ(blocked(signal), worker != 0) << signal; });
  for (const int signal : {SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGABRT, SIGTRAP, SIGSYS})
    on_both_threads([&](int) { EXPECT_FALSE(blocked(signal)) << signal; });
  EXPECT_FALSE(blocked(SIGINT)) << "the caller's own mask is as it was";
}

std::atomic<int> handled_here{0};
std::atomic<int> handled_elsewhere{0};
thread_local bool is_main = false;

TEST(ThreadPool, AHandlerOfTheProgramsRunsOnItsOwnThreads) {
  is_main = true;
  struct sigaction counting{};
  struct sigaction before{};
  counting.sa_handler = [](int) { ++(is_main ? handled_here : handled_elsewhere); };
  counting.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &counting, &before);
  ThreadPool pool;
  for (int again = 0; again < 50; ++again)
    pool.parallel_for(4, 4, [](int) {
      kill(getpid(), SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    });
  sigaction(SIGUSR1, &before, nullptr);
  EXPECT_GT(handled_here, 0);
  EXPECT_EQ(handled_elsewhere, 0);
}

}  // namespace
}  // namespace attn
