#include <array>
#include <deque>
#include <iostream>
#include <vector>

// Decimal buckets: numbers travel through ten queues, digit by digit; negatives are sorted by magnitude apart.
using Queue = std::deque<long long>;

static Queue by_digits(Queue numbers)
{
    long long unit = 1;
    bool more = true;
    while (more) {
        more = false;
        std::array<Queue, 10> buckets;
        for (long long x : numbers) {
            buckets[static_cast<std::size_t>(x / unit % 10)].push_back(x);
            more = more || x / unit >= 10;
        }
        numbers.clear();
        for (Queue &bucket : buckets)
            numbers.insert(numbers.end(), bucket.begin(), bucket.end());
        unit *= 10;
    }
    return numbers;
}

int main()
{
    int n;
    std::cin >> n;
    Queue below, above;
    for (long long x; n-- && std::cin >> x;)
        (x < 0 ? below : above).push_back(x < 0 ? -x : x);
    below = by_digits(below);
    above = by_digits(above);
    for (auto it = below.rbegin(); it != below.rend(); ++it)
        std::cout << -*it << ' ';
    for (auto x : above)
        std::cout << x << ' ';
    std::cout << std::endl;
    return 0;
}
