#include <algorithm>
#include <iostream>
#include <iterator>
#include <optional>
#include <vector>

struct Edge {
  int from{}, to{};
  long cost{};
  friend std::istream &operator>>(std::istream &in, Edge &e) { return in >> e.from >> e.to >> e.cost; }
};

// Bellman-Ford; a node that was not reached yet has no distance.
int main() {
  int n, m;
  std::cin >> n >> m;
  std::vector<Edge> edges(m);
  std::for_each(edges.begin(), edges.end(), [](Edge &e) { std::cin >> e; });

  std::vector<std::optional<long>> dist(n + 1);
  dist.at(1) = 0;
  auto improves = [&dist](const Edge &e) {
    if (!dist[e.from]) return false;
    const long offer = *dist[e.from] + e.cost;
    if (dist[e.to] && *dist[e.to] <= offer) return false;
    dist[e.to] = offer;
    return true;
  };
  for (int round = 0; round < n; ++round) {
    const auto changes = std::count_if(edges.begin(), edges.end(), improves);
    if (changes == 0) break;
  }
  std::transform(std::next(dist.begin()), dist.end(), std::ostream_iterator<long>(std::cout, "\n"),
                 [](const std::optional<long> &d) { return d.value_or(-1); });
  return 0;
}
