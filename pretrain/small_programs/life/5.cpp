#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <unordered_map>

// No field at all: a function of time and place, asked backwards, with a memory.
class Oracle {
public:
    Oracle(int rows, int columns, std::string seed) : rows(rows), columns(columns), seed(std::move(seed)) {}

    bool alive(int time, int r, int c)
    {
        r = wrap(r, rows);
        c = wrap(c, columns);
        const long key = (static_cast<long>(time) * rows + r) * columns + c;
        if (time == 0)
            return seed[static_cast<std::size_t>(key)] == '#';
        const auto known = memory.find(key);
        if (known != memory.end())
            return known->second;
        int n = 0;
        for (int y = r - 1; y <= r + 1; ++y)
            for (int x = c - 1; x <= c + 1; ++x)
                if (y != r || x != c)
                    n += alive(time - 1, y, x) ? 1 : 0;
        const bool result = n == 3 || (n == 2 && alive(time - 1, r, c));
        memory[key] = result;
        return result;
    }

private:
    static int wrap(int i, int n) { return i < 0 ? i + n : i >= n ? i - n : i; }

    int rows, columns;
    std::string seed;
    std::unordered_map<long, bool> memory;
};

int main()
{
    int rows, columns, time;
    std::cin >> rows >> columns >> time;
    std::string seed;
    for (std::string line; std::cin >> line;)
        seed += line;
    Oracle oracle(rows, columns, seed);
    std::stringstream picture;
    int count = 0;
    for (int r = 0; r < rows; ++r) {
        for (int c = 0; c < columns; ++c) {
            const bool cell = oracle.alive(time, r, c);
            picture.put(cell ? '#' : '.');
            count += cell;
        }
        picture.put('\n');
    }
    std::cout << picture.str() << count << '\n';
    return 0;
}
