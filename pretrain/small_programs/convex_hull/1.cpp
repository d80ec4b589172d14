#include <algorithm>
#include <iostream>
#include <vector>

struct Point {
    long x = 0, y = 0;
    bool operator<(const Point &o) const { return x != o.x ? x < o.x : y < o.y; }
    Point operator-(const Point &o) const { return {x - o.x, y - o.y}; }
};

static long cross(const Point &a, const Point &b)
{
    return a.x * b.y - a.y * b.x;
}

template <typename Iterator>
std::vector<Point> half(Iterator first, Iterator last)
{
    std::vector<Point> chain;
    for (; first != last; ++first) {
        while (chain.size() > 1 && cross(chain.back() - chain[chain.size() - 2], *first - chain.back()) <= 0)
            chain.pop_back();
        chain.push_back(*first);
    }
    chain.pop_back();
    return chain;
}

int main()
{
    std::size_t count;
    std::cin >> count;
    std::vector<Point> points(count);
    for (Point &p : points)
        std::cin >> p.x >> p.y;
    std::sort(points.begin(), points.end());
    std::vector<Point> hull = half(points.begin(), points.end());
    const std::vector<Point> upper = half(points.rbegin(), points.rend());
    hull.insert(hull.end(), upper.begin(), upper.end());
    long area = 0;
    for (std::size_t i = 0; i < hull.size(); ++i)
        area += cross(hull[i], hull[(i + 1) % hull.size()]);
    std::cout << hull.size() << ' ' << area << '\n';
}
