#include <iostream>
#include <list>
#include <vector>

// Incremental: a ring of corners, and each new point replaces the corners that it sees.
struct Pos {
    long x, y;
};

static long orient(const Pos &a, const Pos &b, const Pos &c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static std::vector<Pos> extend(const std::vector<Pos> &ring, const Pos &p)
{
    const std::size_t n = ring.size();
    std::vector<bool> visible(n);
    bool outside = false;
    for (std::size_t i = 0; i < n; ++i) {
        const Pos &a = ring[i], &b = ring[(i + 1) % n];
        const long o = orient(a, b, p);
        const bool beyond = o == 0 && (p.x - a.x) * (p.x - b.x) + (p.y - a.y) * (p.y - b.y) > 0;
        visible[i] = o < 0 || beyond;
        outside = outside || visible[i];
    }
    if (!outside)
        return ring;
    std::size_t first = 0; // first edge that p sees
    while (!(visible[first] && !visible[(first + n - 1) % n]))
        ++first;
    std::vector<Pos> grown{p};
    std::size_t edge = first;
    while (visible[edge])
        edge = (edge + 1) % n;
    for (std::size_t i = edge; i != first; i = (i + 1) % n)
        grown.push_back(ring[i]);
    grown.push_back(ring[first]);
    return grown;
}

int main()
{
    int n;
    std::cin >> n;
    std::list<Pos> waiting;
    for (Pos p; n-- > 0 && std::cin >> p.x >> p.y;)
        waiting.push_back(p);
    std::vector<Pos> ring{waiting.front()};
    waiting.pop_front();
    ring.push_back(waiting.front());
    waiting.pop_front();
    auto third = waiting.begin();
    while (orient(ring[0], ring[1], *third) == 0)
        ++third;
    if (orient(ring[0], ring[1], *third) < 0)
        std::swap(ring[0], ring[1]);
    ring.push_back(*third);
    waiting.erase(third);
    for (const Pos &p : waiting)
        ring = extend(ring, p);
    long area = 0;
    for (std::size_t i = 1; i + 1 < ring.size(); ++i)
        area += orient(ring[0], ring[i], ring[i + 1]);
    std::cout << ring.size() << " " << area << "\n";
    return 0;
}
