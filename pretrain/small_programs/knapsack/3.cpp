#include <functional>
#include <iostream>
#include <map>
#include <utility>
#include <vector>

// Memoised recursion in a lambda; (value, -weight) pairs compare as wanted.
int main()
{
    using Answer = std::pair<int, int>;
    int n, room;
    std::cin >> n >> room;
    std::vector<std::pair<int, int>> things;
    for (int w, v; n-- > 0 && std::cin >> w >> v;)
        things.emplace_back(w, v);

    std::map<std::pair<std::size_t, int>, Answer> memory;
    std::function<Answer(std::size_t, int)> ask = [&](std::size_t i, int left) -> Answer {
        if (i == things.size())
            return {0, 0};
        const auto key = std::make_pair(i, left);
        if (auto old = memory.find(key); old != memory.end())
            return old->second;
        Answer result = ask(i + 1, left);
        const auto [w, v] = things[i];
        if (w <= left) {
            Answer with = ask(i + 1, left - w);
            with.first += v;
            with.second -= w;
            result = std::max(result, with);
        }
        memory.emplace(key, result);
        return result;
    };

    const Answer found = ask(0, room);
    std::cout << found.first << " " << -found.second << std::endl;
    return 0;
}
