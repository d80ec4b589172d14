#include <algorithm>
#include <cmath>
#include <iostream>
#include <list>
#include <stack>
#include <vector>

class Vec {
public:
    Vec(long x = 0, long y = 0) : x_(x), y_(y) {}
    friend Vec operator-(const Vec &a, const Vec &b) { return Vec(a.x_ - b.x_, a.y_ - b.y_); }
    friend long operator^(const Vec &a, const Vec &b) { return a.x_ * b.y_ - a.y_ * b.x_; }
    friend std::istream &operator>>(std::istream &in, Vec &v) { return in >> v.x_ >> v.y_; }
    bool lower(const Vec &o) const { return y_ < o.y_ || (y_ == o.y_ && x_ < o.x_); }
    double angle() const { return std::atan2(static_cast<double>(y_), static_cast<double>(x_)); }
    double length() const { return std::hypot(static_cast<double>(x_), static_cast<double>(y_)); }

private:
    long x_, y_;
};

// Graham's scan with angles as numbers and the hull on a stack.
int main()
{
    int n;
    std::cin >> n;
    std::vector<Vec> cloud(n);
    for (Vec &v : cloud)
        std::cin >> v;
    const Vec base = *std::min_element(cloud.begin(), cloud.end(), [](auto &a, auto &b) { return a.lower(b); });
    std::sort(cloud.begin(), cloud.end(), [&base](const Vec &a, const Vec &b) {
        const Vec u = a - base, v = b - base;
        const long c = u ^ v;
        return c != 0 && u.length() > 0 && v.length() > 0 ? u.angle() < v.angle() : u.length() < v.length();
    });
    std::vector<Vec> hull;
    for (const Vec &v : cloud) {
        while (hull.size() >= 2) {
            const Vec &a = hull.end()[-2], &b = hull.end()[-1];
            if (((b - a) ^ (v - a)) > 0)
                break;
            hull.pop_back();
        }
        hull.push_back(v);
    }
    long sum = hull.back() ^ hull.front();
    for (std::size_t i = 1; i < hull.size(); ++i)
        sum += hull[i - 1] ^ hull[i];
    std::cout << hull.size() << " " << sum << std::endl;
}
