#include <iostream>
#include <list>
#include <map>

// Keeps only loads that no other load beats: lighter and not worth less. A map from weight to value.
class Frontier {
    std::map<long, long> loads{{0, 0}};

    static void clean(std::map<long, long> &all)
    {
        long best = -1;
        for (auto it = all.begin(); it != all.end();) {
            if (it->second <= best) {
                it = all.erase(it);
            } else {
                best = it->second;
                ++it;
            }
        }
    }

public:
    void consider(long weight, long value, long capacity)
    {
        auto grown = loads;
        for (const auto &[w, v] : loads) {
            if (w + weight > capacity)
                break;
            auto [place, fresh] = grown.try_emplace(w + weight, v + value);
            if (!fresh && place->second < v + value)
                place->second = v + value;
        }
        clean(grown);
        loads = std::move(grown);
    }

    const std::pair<const long, long> &richest() const { return *loads.rbegin(); }
};

int main()
{
    int items;
    long capacity;
    std::cin >> items >> capacity;
    Frontier frontier;
    for (long weight, value; items > 0 && std::cin >> weight >> value; --items)
        frontier.consider(weight, value, capacity);
    std::cout << frontier.richest().second << " " << frontier.richest().first << "\n";
    return 0;
}
