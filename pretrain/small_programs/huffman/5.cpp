#include <iostream>
#include <list>
#include <map>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

// The tree as a variant: a leaf, or the numbers of two trees in a pool. Codes are written out as text.
struct Leaf {
    char letter;
};
struct Fork {
    std::size_t zero, one;
};
using Tree = std::variant<Leaf, Fork>;

struct Coder {
    std::vector<Tree> pool;
    std::map<char, std::string> codes;

    explicit Coder(const std::map<char, int> &counts)
    {
        std::multimap<int, std::size_t> open;
        for (const auto &[letter, count] : counts) {
            open.emplace(count, pool.size());
            pool.emplace_back(Leaf{letter});
        }
        while (open.size() > 1) {
            const auto a = open.extract(open.begin());
            const auto b = open.extract(open.begin());
            open.emplace(a.key() + b.key(), pool.size());
            pool.emplace_back(Fork{a.mapped(), b.mapped()});
        }
        write(open.begin()->second, counts.size() == 1 ? "0" : "");
    }

    void write(std::size_t at, const std::string &prefix)
    {
        if (const Leaf *leaf = std::get_if<Leaf>(&pool[at])) {
            codes[leaf->letter] = prefix;
            return;
        }
        const Fork fork = std::get<Fork>(pool[at]);
        write(fork.zero, prefix + "0");
        write(fork.one, prefix + "1");
    }
};

int main()
{
    std::string line;
    while (std::getline(std::cin, line)) {
        std::map<char, int> counts;
        for (char c : line)
            counts[c]++;
        const Coder coder(counts);
        std::string coded;
        for (char c : line)
            coded += coder.codes.at(c);
        std::cout << coder.codes.size() << " " << coded.size() << "\n";
    }
}
