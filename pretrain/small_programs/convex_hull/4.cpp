#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>
#include <vector>

using Dot = std::pair<int, int>;
using Dots = std::vector<Dot>;

static long long above(const Dot &a, const Dot &b, const Dot &p)
{
    return 1LL * (b.first - a.first) * (p.second - a.second) - 1LL * (b.second - a.second) * (p.first - a.first);
}

// Corners strictly left of a -> b, in order.
static Dots quick(const Dots &dots, const Dot &a, const Dot &b)
{
    Dots outside;
    std::copy_if(dots.begin(), dots.end(), std::back_inserter(outside), [&](const Dot &p) { return above(a, b, p) > 0; });
    if (outside.empty())
        return {};
    const Dot far = *std::max_element(outside.begin(), outside.end(), [&](const Dot &p, const Dot &q) {
        return std::make_pair(above(a, b, p), p) < std::make_pair(above(a, b, q), q);
    });
    Dots result = quick(outside, a, far);
    result.push_back(far);
    const Dots rest = quick(outside, far, b);
    std::move(rest.begin(), rest.end(), std::back_inserter(result));
    return result;
}

int main()
{
    int n;
    std::cin >> n;
    Dots dots;
    for (int x, y; n-- > 0 && std::cin >> x >> y;)
        dots.emplace_back(x, y);
    const auto [low, high] = std::minmax_element(dots.begin(), dots.end());
    Dots hull{*low};
    for (const Dot &d : quick(dots, *low, *high))
        hull.push_back(d);
    hull.push_back(*high);
    for (const Dot &d : quick(dots, *high, *low))
        hull.push_back(d);
    long long area = 0;
    Dot last = hull.back();
    for (const Dot &d : hull) {
        area += 1LL * last.second * d.first - 1LL * last.first * d.second;
        last = d;
    }
    std::cout << hull.size() << ' ' << area << '\n';
}
