#include <algorithm>
#include <iostream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

// Prefix sums, and a short list of changes since they were made; when it is long, all is made anew.
class Journal {
public:
    explicit Journal(std::vector<long> values) : values_(std::move(values)) { rebuild(); }

    void set(std::size_t place, long value)
    {
        changes_.push_back({place, value - values_[place]});
        values_[place] = value;
        if (changes_.size() > 8)
            rebuild();
    }

    long sum(std::size_t from, std::size_t past) const
    {
        const long base = prefix_[past] - prefix_[from];
        return std::accumulate(changes_.begin(), changes_.end(), base, [=](long total, const Change &change) {
            return change.place >= from && change.place < past ? total + change.amount : total;
        });
    }

private:
    struct Change {
        std::size_t place;
        long amount;
    };
    std::vector<long> values_, prefix_;
    std::vector<Change> changes_;

    void rebuild()
    {
        prefix_.assign(1, 0);
        std::partial_sum(values_.begin(), values_.end(), std::back_inserter(prefix_));
        changes_.clear();
    }
};

int main()
{
    std::size_t count, orders;
    std::cin >> count;
    std::vector<long> values;
    std::copy_n(std::istream_iterator<long>(std::cin), count, std::back_inserter(values));
    Journal journal(std::move(values));
    std::cin >> orders;
    for (std::string word; orders > 0; --orders) {
        std::size_t a;
        long b;
        std::cin >> word >> a >> b;
        if (word.back() == 't')
            journal.set(a - 1, b);
        else
            std::cout << journal.sum(a - 1, static_cast<std::size_t>(b)) << '\n';
    }
}
