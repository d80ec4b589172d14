#include <algorithm>
#include <iostream>
#include <list>
#include <string>
#include <vector>

// Row by row: runs of land join the islands that they touch in the row above.
struct Run {
    int from, to;
};

struct Island {
    std::vector<Run> edge;  // runs in the row above
    std::vector<Run> fresh; // runs in this row
    int cells = 0;

    bool touches(const Run &run) const
    {
        return std::any_of(edge.begin(), edge.end(), [&run](const Run &e) { return e.from < run.to && run.from < e.to; });
    }
};

static std::vector<Run> runs_of(const std::string &line)
{
    std::vector<Run> runs;
    for (auto at = line.find('#'); at != std::string::npos; at = line.find('#', at)) {
        const auto end = std::min(line.find_first_not_of('#', at), line.size());
        runs.push_back({static_cast<int>(at), static_cast<int>(end)});
        at = end;
    }
    return runs;
}

static void absorb(std::list<Island> &islands, const Run &run)
{
    Island merged;
    merged.fresh.push_back(run);
    merged.cells = run.to - run.from;
    for (auto it = islands.begin(); it != islands.end();) {
        if (!it->touches(run)) {
            ++it;
            continue;
        }
        merged.edge.insert(merged.edge.end(), it->edge.begin(), it->edge.end());
        merged.fresh.insert(merged.fresh.end(), it->fresh.begin(), it->fresh.end());
        merged.cells += it->cells;
        it = islands.erase(it);
    }
    islands.push_back(std::move(merged));
}

int main()
{
    int rows, columns;
    std::cin >> rows >> columns;
    std::list<Island> islands;
    for (std::string line; rows-- > 0 && std::cin >> line;) {
        for (const Run &run : runs_of(line))
            absorb(islands, run);
        for (Island &island : islands) {
            island.edge.swap(island.fresh);
            island.fresh.clear();
        }
    }
    int largest = 0;
    for (const Island &island : islands)
        largest = std::max(largest, island.cells);
    std::cout << islands.size() << " " << largest << std::endl;
}
