#include <algorithm>
#include <iostream>
#include <vector>

struct Item {
    int weight;
    int value;
};

// A matrix that knows its width.
template <typename T>
class Matrix {
public:
    Matrix(std::size_t rows, std::size_t columns) : columns_(columns), cells_(rows * columns) {}
    T &operator()(std::size_t row, std::size_t column) { return cells_[row * columns_ + column]; }

private:
    std::size_t columns_;
    std::vector<T> cells_;
};

int main()
{
    int count, capacity;
    std::cin >> count >> capacity;
    std::vector<Item> items(count);
    for (auto &[weight, value] : items)
        std::cin >> weight >> value;

    Matrix<int> best(count + 1, capacity + 1);
    for (int i = 1; i <= count; ++i) {
        const Item &item = items[i - 1];
        for (int room = 0; room <= capacity; ++room) {
            best(i, room) = best(i - 1, room);
            if (item.weight <= room)
                best(i, room) = std::max(best(i, room), item.value + best(i - 1, room - item.weight));
        }
    }
    const int top = best(count, capacity);
    int load = capacity;
    while (load > 0 && best(count, load - 1) == top)
        --load;
    std::cout << top << ' ' << load << '\n';
}
