#include <iostream>
#include <memory>
#include <string>

// A tree of objects: inner nodes own two halves.
class Segment {
public:
    Segment(int first, int last) : first(first), last(last)
    {
        if (first == last) {
            std::cin >> total;
            return;
        }
        const int middle = (first + last) / 2;
        left = std::make_unique<Segment>(first, middle);
        right = std::make_unique<Segment>(middle + 1, last);
        refresh();
    }

    void set(int place, long value)
    {
        if (!left) {
            total = value;
            return;
        }
        (place <= left->last ? left : right)->set(place, value);
        refresh();
    }

    long sum(int from, int to) const
    {
        if (to < first || last < from)
            return 0;
        if (from <= first && last <= to)
            return total;
        return left->sum(from, to) + right->sum(from, to);
    }

private:
    int first, last;
    long total = 0;
    std::unique_ptr<Segment> left, right;

    void refresh() { total = left->total + right->total; }
};

int main()
{
    int count, orders;
    std::cin >> count;
    Segment all(1, count);
    std::cin >> orders;
    for (int i = 0; i < orders; ++i) {
        std::string order;
        int a, b;
        std::cin >> order >> a >> b;
        if (order == "set")
            all.set(a, b);
        else if (order == "sum")
            std::cout << all.sum(a, b) << "\n";
    }
    return 0;
}
