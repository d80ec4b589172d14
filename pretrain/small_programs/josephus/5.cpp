#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <vector>

// A table of successors; leaving means that the one before points further on.
class Successors {
    std::map<int, int> next;
    int last;

public:
    explicit Successors(int people) : last(people)
    {
        for (int i = 1; i <= people; ++i)
            next[i] = i % people + 1;
    }

    int leave(int step)
    {
        for (int i = 1; i < step; ++i)
            last = next.at(last);
        auto gone = next.find(next.at(last));
        const int number = gone->first;
        next[last] = gone->second;
        if (number != last)
            next.erase(gone);
        return number;
    }
};

int main()
{
    for (int people, step; std::cin >> people >> step;) {
        Successors ring(people);
        std::vector<int> order(people);
        for (int &place : order)
            place = ring.leave(step);
        std::copy(order.begin(), order.end(), std::ostream_iterator<int>(std::cout, " "));
        std::cout << "\n";
    }
    return 0;
}
