#include <iostream>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

// Sums of all aligned powers of two in a hash table, keyed by level and place.
struct Key {
    unsigned level;
    unsigned long index;
    bool operator==(const Key &other) const { return level == other.level && index == other.index; }
};

struct KeyHash {
    std::size_t operator()(const Key &key) const { return key.index * 64 + key.level; }
};

class Pyramid {
    static constexpr unsigned levels = 20;
    std::unordered_map<Key, long, KeyHash> sums;

public:
    long get(unsigned level, unsigned long index) const
    {
        auto it = sums.find({level, index});
        return it == sums.end() ? 0 : it->second;
    }

    void set(unsigned long place, long value)
    {
        const long difference = value - get(0, place);
        for (unsigned level = 0; level < levels; ++level)
            sums[{level, place >> level}] += difference;
    }

    long before(unsigned long place) const
    {
        long total = 0;
        for (unsigned level = 0; level < levels; ++level)
            if (place >> level & 1)
                total += get(level, (place >> level) - 1);
        return total;
    }
};

int main()
{
    Pyramid pyramid;
    unsigned long count;
    std::cin >> count;
    for (unsigned long i = 0; i < count; ++i) {
        long value;
        std::cin >> value;
        pyramid.set(i, value);
    }
    std::string line;
    std::getline(std::cin, line);
    std::getline(std::cin, line);
    while (std::getline(std::cin, line)) {
        std::istringstream order(line);
        std::string word;
        unsigned long a, b;
        if (order >> word >> a && word == "sum" && order >> b)
            std::cout << pyramid.before(b) - pyramid.before(a - 1) << "\n";
        else if (long value; order >> value)
            pyramid.set(a - 1, value);
    }
    return 0;
}
