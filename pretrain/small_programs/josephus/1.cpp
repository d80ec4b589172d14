#include <iostream>
#include <iterator>
#include <list>
#include <numeric>

// A std::list whose iterator steps over the end.
class Ring {
public:
    explicit Ring(int size) : people_(size), at_(people_.begin()) { std::iota(people_.begin(), people_.end(), 1); }

    bool empty() const { return people_.empty(); }

    int removeNth(int steps)
    {
        while (--steps > 0)
            forward();
        const int leaving = *at_;
        at_ = people_.erase(at_);
        if (at_ == people_.end())
            at_ = people_.begin();
        return leaving;
    }

private:
    std::list<int> people_;
    std::list<int>::iterator at_;

    void forward()
    {
        if (++at_ == people_.end())
            at_ = people_.begin();
    }
};

int main()
{
    int size, step;
    while (std::cin >> size >> step) {
        Ring ring(size);
        while (!ring.empty())
            std::cout << ring.removeNth(step) << (ring.empty() ? '\n' : ' ');
    }
}
