#include <algorithm>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

// Graph of cells, components by repeated minimum.
struct Graph {
    std::vector<std::vector<std::size_t>> neighbours;
    std::vector<std::size_t> component;

    std::size_t addNode()
    {
        component.push_back(component.size());
        neighbours.emplace_back();
        return component.size() - 1;
    }

    void connect(std::size_t a, std::size_t b)
    {
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
    }

    void settle()
    {
        bool moved = true;
        while (moved) {
            moved = false;
            for (std::size_t node = 0; node < component.size(); ++node)
                for (std::size_t other : neighbours[node])
                    if (component[other] < component[node]) {
                        component[node] = component[other];
                        moved = true;
                    }
        }
    }
};

} // namespace

int main()
{
    std::size_t rows, columns;
    std::cin >> rows >> columns;
    Graph graph;
    std::unordered_map<std::size_t, std::size_t> node;
    for (std::size_t place = 0; place < rows * columns; ++place) {
        char symbol;
        std::cin >> symbol;
        if (symbol != '#')
            continue;
        node[place] = graph.addNode();
        if (place % columns > 0 && node.count(place - 1))
            graph.connect(node[place], node[place - 1]);
        if (place >= columns && node.count(place - columns))
            graph.connect(node[place], node[place - columns]);
    }
    graph.settle();
    std::vector<std::size_t> labels = graph.component;
    std::sort(labels.begin(), labels.end());
    std::ptrdiff_t islands = 0, largest = 0;
    for (auto from = labels.begin(); from != labels.end(); ++islands) {
        const auto to = std::upper_bound(from, labels.end(), *from);
        largest = std::max(largest, std::distance(from, to));
        from = to;
    }
    std::cout << islands << ' ' << largest << '\n';
}
