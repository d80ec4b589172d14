#include <algorithm>
#include <iostream>
#include <map>
#include <string>

template <int Base, int Width>
struct Limbs {
    std::map<int, long> at{{0, 1}}; // sparse: position -> limb

    void scale(long by)
    {
        long carry = 0;
        for (auto &[place, limb] : at) {
            limb = limb * by + carry;
            carry = limb / Base;
            limb %= Base;
        }
        if (carry)
            at[at.rbegin()->first + 1] = carry;
    }

    std::string text() const
    {
        std::string all;
        for (auto it = at.rbegin(); it != at.rend(); ++it) {
            const std::string part = std::to_string(it->second);
            if (!all.empty())
                all.append(Width - part.size(), '0');
            all += part;
        }
        return all;
    }
};

int main()
{
    int n;
    while (std::cin >> n) {
        // Prime factors of all numbers up to n, gathered first.
        std::map<int, int> power;
        for (int k = 2; k <= n; ++k) {
            int rest = k;
            for (int p = 2; rest > 1; ++p)
                for (; rest % p == 0; rest /= p)
                    ++power[p];
        }
        Limbs<100000, 5> number;
        for (const auto &[prime, times] : power)
            for (int i = 0; i < times; ++i)
                number.scale(prime);
        const auto text = number.text();
        long sum = 0;
        std::for_each(text.begin(), text.end(), [&](char c) { sum += c - '0'; });
        std::cout << text << " " << sum << "\n";
    }
}
