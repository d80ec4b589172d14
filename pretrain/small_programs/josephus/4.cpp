#include <iostream>
#include <memory>
#include <vector>

// A binary tree over the places; each node knows how many are left below it.
class Circle {
public:
    Circle(int low, int high) : low_(low), left_(high - low)
    {
        if (left_ > 1) {
            const int middle = low + left_ / 2;
            first_ = std::make_unique<Circle>(low, middle);
            second_ = std::make_unique<Circle>(middle, high);
        }
    }

    int size() const { return left_; }

    int take(int rank)
    {
        --left_;
        if (!first_)
            return low_;
        return rank < first_->size() ? first_->take(rank) : second_->take(rank - first_->size());
    }

private:
    int low_, left_;
    std::unique_ptr<Circle> first_, second_;
};

static std::vector<int> leaving_order(int people, int step)
{
    Circle circle(1, people + 1);
    std::vector<int> order;
    int rank = 0;
    while (circle.size() > 0) {
        rank = (rank + step - 1) % circle.size();
        order.push_back(circle.take(rank));
    }
    return order;
}

int main()
{
    int people, step;
    while (std::cin >> people >> step) {
        for (int person : leaving_order(people, step))
            std::cout << person << ' ';
        std::cout << std::endl;
    }
}
