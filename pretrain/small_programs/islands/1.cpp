#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

class Map {
public:
    Map(std::istream &in, int rows) : lines_(rows)
    {
        for (std::string &line : lines_)
            in >> line;
    }

    int sink(int row, int column)
    {
        if (!land(row, column))
            return 0;
        lines_[row][column] = '.';
        int cells = 1;
        for (const auto &step : {Step{-1, 0}, Step{1, 0}, Step{0, -1}, Step{0, 1}})
            cells += sink(row + step.down, column + step.right);
        return cells;
    }

    bool land(int row, int column) const
    {
        return row >= 0 && row < static_cast<int>(lines_.size()) && column >= 0 &&
               column < static_cast<int>(lines_[row].size()) && lines_[row][column] == '#';
    }

private:
    struct Step {
        int down, right;
    };
    std::vector<std::string> lines_;
};

int main()
{
    int rows, columns;
    std::cin >> rows >> columns;
    Map map(std::cin, rows);
    std::vector<int> sizes;
    for (int row = 0; row < rows; ++row)
        for (int column = 0; column < columns; ++column)
            if (map.land(row, column))
                sizes.push_back(map.sink(row, column));
    const auto largest = std::max_element(sizes.begin(), sizes.end());
    std::cout << sizes.size() << ' ' << (sizes.empty() ? 0 : *largest) << '\n';
}
