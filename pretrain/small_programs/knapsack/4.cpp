#include <algorithm>
#include <iostream>
#include <queue>
#include <vector>

namespace {

struct Thing {
    int weight = 0, value = 0;
    double density() const { return static_cast<double>(value) / weight; }
};

struct State {
    std::size_t next = 0;
    int weight = 0, value = 0;
    double promise = 0;
    bool operator<(const State &other) const { return promise < other.promise; }
};

class Search {
public:
    Search(std::vector<Thing> things, int capacity) : things_(std::move(things)), capacity_(capacity)
    {
        std::sort(things_.begin(), things_.end(),
                  [](const Thing &a, const Thing &b) { return a.density() > b.density(); });
    }

    State run()
    {
        State best;
        std::priority_queue<State> open; // best promise first
        open.push(rated({}));
        while (!open.empty()) {
            State s = open.top();
            open.pop();
            if (s.value > best.value || (s.value == best.value && s.weight < best.weight)) best = s;
            if (s.promise < best.value) break;
            if (s.next == things_.size()) continue;
            const Thing &t = things_[s.next++];
            open.push(rated(s));
            s.weight += t.weight;
            s.value += t.value;
            if (s.weight <= capacity_) open.push(rated(s));
        }
        return best;
    }

private:
    std::vector<Thing> things_;
    int capacity_;

    State rated(State s) const
    {
        double room = capacity_ - s.weight;
        s.promise = s.value;
        for (std::size_t i = s.next; i < things_.size() && room > 0; ++i) {
            const double part = std::min(1.0, room / things_[i].weight);
            s.promise += part * things_[i].value;
            room -= part * things_[i].weight;
        }
        s.promise += 1e-9;
        return s;
    }
};

} // namespace

int main()
{
    int count, capacity;
    std::cin >> count >> capacity;
    std::vector<Thing> things(count);
    for (auto &thing : things)
        std::cin >> thing.weight >> thing.value;
    const State best = Search(things, capacity).run();
    std::cout << best.value << ' ' << best.weight << '\n';
}
