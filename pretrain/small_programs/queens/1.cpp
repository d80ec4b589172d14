#include <iostream>
#include <vector>

// Backtracking with three vectors that say which lines are taken.
class Board {
public:
    explicit Board(int size)
        : size_(size), columns_(size), rising_(2 * size), falling_(2 * size), queens_(size), count_(0)
    {
        fill(0);
    }

    long count() const { return count_; }
    const std::vector<int> &first() const { return first_; }

private:
    int size_;
    std::vector<bool> columns_, rising_, falling_;
    std::vector<int> queens_, first_;
    long count_;

    void set(int row, int column, bool taken)
    {
        columns_[column] = taken;
        rising_[row + column] = taken;
        falling_[row - column + size_] = taken;
    }

    void fill(int row)
    {
        if (row == size_) {
            if (count_++ == 0)
                first_ = queens_;
            return;
        }
        for (int column = 0; column < size_; ++column) {
            if (columns_[column] || rising_[row + column] || falling_[row - column + size_])
                continue;
            queens_[row] = column + 1;
            set(row, column, true);
            fill(row + 1);
            set(row, column, false);
        }
    }
};

int main()
{
    for (int size; std::cin >> size;) {
        const Board board(size);
        std::cout << board.count() << ':';
        for (int queen : board.first())
            std::cout << ' ' << queen;
        std::cout << '\n';
    }
}
