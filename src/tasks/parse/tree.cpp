#include "tasks/parse/tree.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"

namespace attn::tasks::parse {
namespace {

/// Scores of a head (a column) for a dependent (a row); node 0 is the root.
struct Graph {
  std::size_t nodes = 0;
  std::vector<double> scores;

  explicit Graph(std::size_t count) : nodes(count), scores(count * count, kNever) {}
  double& at(std::size_t dependent, std::size_t head) {
    return scores[dependent * nodes + head];
  }
  double at(std::size_t dependent, std::size_t head) const {
    return scores[dependent * nodes + head];
  }

  static constexpr double kNever = -std::numeric_limits<double>::infinity();
};

std::vector<std::size_t> best_heads(const Graph& graph) {
  std::vector<std::size_t> heads(graph.nodes, 0);
  for (std::size_t node = 1; node < graph.nodes; ++node)
    for (std::size_t head = 1; head < graph.nodes; ++head)
      if (head != node && graph.at(node, head) > graph.at(node, heads[node]))
        heads[node] = head;
  return heads;
}

/// The nodes of a cycle; none where there is no cycle.
std::vector<std::size_t> cycle_of(const std::vector<std::size_t>& heads) {
  std::vector<std::size_t> seen(heads.size(), 0);  // from which start
  for (std::size_t start = 1; start < heads.size(); ++start) {
    std::size_t node = start;
    while (node != 0 && seen[node] == 0) {
      seen[node] = start;
      node = heads[node];
    }
    if (node == 0 || seen[node] != start) continue;
    std::vector<std::size_t> cycle{node};
    for (std::size_t next = heads[node]; next != node; next = heads[next])
      cycle.push_back(next);
    return cycle;
  }
  return {};
}

/// One step of the recursion, kept to be undone.
struct Contraction {
  std::vector<std::size_t> heads;  ///< the greedy ones, of this graph
  std::vector<std::size_t> names;  ///< of the nodes outside of the cycle, in the next graph
  std::vector<std::size_t> into;   ///< by outer node: which of the cycle it would be head of
  std::vector<std::size_t> from;   ///< by outer node: which of the cycle would be its head
  std::vector<bool> in_cycle;
};

/// The cycle becomes the last node of a smaller graph.
std::pair<Graph, Contraction> contract(const Graph& graph, std::vector<std::size_t> heads,
                                       const std::vector<std::size_t>& cycle) {
  Contraction step;
  step.in_cycle.assign(graph.nodes, false);
  for (const std::size_t node : cycle) step.in_cycle[node] = true;
  for (std::size_t node = 0; node < graph.nodes; ++node)
    if (!step.in_cycle[node]) step.names.push_back(node);
  const std::size_t whole = step.names.size();
  Graph next(whole + 1);
  step.into.assign(whole, cycle.front());
  step.from.assign(whole, cycle.front());
  for (std::size_t i = 0; i < whole; ++i) {
    const std::size_t outer = step.names[i];
    for (std::size_t j = 0; j < whole; ++j) next.at(i, j) = graph.at(outer, step.names[j]);
    for (const std::size_t node : cycle) {
      // To go in, the cycle is opened at one place, whose arc is lost.
      const double gain = graph.at(node, outer) - graph.at(node, heads[node]);
      if (gain > next.at(whole, i)) {
        next.at(whole, i) = gain;
        step.into[i] = node;
      }
      if (graph.at(outer, node) > next.at(i, whole)) {
        next.at(i, whole) = graph.at(outer, node);
        step.from[i] = node;
      }
    }
  }
  step.heads = std::move(heads);
  return {std::move(next), std::move(step)};
}

std::vector<std::size_t> expand(const std::vector<std::size_t>& heads,
                                const Contraction& step) {
  const std::size_t whole = step.names.size();
  std::vector<std::size_t> all = step.heads;
  for (std::size_t i = 1; i < whole; ++i)
    all[step.names[i]] = heads[i] == whole ? step.from[i] : step.names[heads[i]];
  all[step.into[heads[whole]]] = step.names[heads[whole]];
  return all;
}

}  // namespace

std::vector<std::int64_t> best_tree(std::span<const float> scores, std::int64_t words) {
  const auto count = static_cast<std::size_t>(words);
  if (words < 1 || scores.size() != count * (count + 1))
    fail("attn::tasks::parse::best_tree: ", scores.size(), " scores of ", words, " words");
  const auto [least, most] = std::minmax_element(scores.begin(), scores.end());
  // A second arc from the root would cost more than all others can gain.
  const double root = 1.0 + static_cast<double>(words) * (double{*most} - double{*least});
  Graph graph(count + 1);
  for (std::size_t word = 0; word < count; ++word)
    for (std::size_t head = 0; head <= count; ++head)
      if (head != word + 1)
        graph.at(word + 1, head) =
            double{scores[word * (count + 1) + head]} - (head == 0 ? root : 0.0);

  std::vector<Contraction> steps;
  std::vector<std::size_t> heads = best_heads(graph);
  for (std::vector<std::size_t> cycle = cycle_of(heads); !cycle.empty();
       cycle = cycle_of(heads)) {
    auto [next, step] = contract(graph, std::move(heads), cycle);
    steps.push_back(std::move(step));
    graph = std::move(next);
    heads = best_heads(graph);
  }
  for (; !steps.empty(); steps.pop_back()) heads = expand(heads, steps.back());
  return {heads.begin() + 1, heads.end()};
}

bool is_tree(std::span<const std::int64_t> heads) {
  const auto count = static_cast<std::int64_t>(heads.size());
  if (std::count(heads.begin(), heads.end(), 0) != 1) return false;
  std::vector<std::int64_t> seen(heads.size(), 0);  // from which start, from 1
  for (std::int64_t start = 1; start <= count; ++start) {
    std::int64_t node = start;
    while (node != 0 && seen[static_cast<std::size_t>(node - 1)] == 0) {
      seen[static_cast<std::size_t>(node - 1)] = start;
      node = heads[static_cast<std::size_t>(node - 1)];
      if (node < 0 || node > count) return false;
    }
    if (node != 0 && seen[static_cast<std::size_t>(node - 1)] == start) return false;
  }
  return true;
}

}  // namespace attn::tasks::parse
