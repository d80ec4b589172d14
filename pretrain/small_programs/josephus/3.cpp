#include <iostream>
#include <queue>
#include <string>

// A std::queue; results are gathered in a string.
static std::queue<unsigned> line_up(unsigned people)
{
    std::queue<unsigned> line;
    for (unsigned i = 1; i <= people; ++i)
        line.push(i);
    return line;
}

static unsigned call_out(std::queue<unsigned> &line, unsigned count)
{
    for (unsigned i = 1; i < count; ++i) {
        line.push(line.front());
        line.pop();
    }
    const unsigned called = line.front();
    line.pop();
    return called;
}

int main()
{
    unsigned people, count;
    while (std::cin >> people >> count) {
        std::string order;
        for (auto line = line_up(people); !line.empty();)
            order.append(std::to_string(call_out(line, count))).push_back(' ');
        order.back() = '\n';
        std::cout << order;
    }
    return 0;
}
