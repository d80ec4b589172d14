#include <iostream>
#include <limits>
#include <set>
#include <utility>
#include <vector>

// Dijkstra with an ordered set as the queue; a better distance replaces the old entry.
struct Road {
    int target;
    int length;
};

int main()
{
    int nodes, edges;
    std::cin >> nodes >> edges;
    std::vector<std::vector<Road>> roads(nodes + 1);
    for (int i = 0; i < edges; ++i) {
        int from;
        Road road;
        std::cin >> from >> road.target >> road.length;
        roads[from].push_back(road);
    }
    const int far = std::numeric_limits<int>::max();
    std::vector<int> distance(nodes + 1, far);
    std::set<std::pair<int, int>> waiting;
    distance[1] = 0;
    waiting.emplace(0, 1);
    while (!waiting.empty()) {
        const auto [so_far, here] = *waiting.begin();
        waiting.erase(waiting.begin());
        for (const Road &road : roads[here]) {
            const int total = so_far + road.length;
            int &known = distance[road.target];
            if (total < known) {
                if (known != far)
                    waiting.erase({known, road.target});
                known = total;
                waiting.emplace(total, road.target);
            }
        }
    }
    for (int i = 1; i <= nodes; ++i)
        std::cout << (distance[i] == far ? -1 : distance[i]) << '\n';
}
