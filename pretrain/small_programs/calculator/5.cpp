#include <algorithm>
#include <iostream>
#include <string>

// Rewrites the text: innermost brackets first, then a flat sum of products.
static long flat(const std::string &s)
{
    long sum = 0, product = 1;
    char op = '*';
    int sign = 1;
    std::size_t i = 0;
    while (i < s.size()) {
        int minus = 1;
        while (s[i] == '-') {
            minus = -minus;
            ++i;
        }
        std::size_t used = 0;
        const long number = minus * std::stol(s.substr(i), &used);
        i += used;
        product = op == '*' ? product * number : product / number;
        const char next = i < s.size() ? s[i++] : '+';
        if (next == '*' || next == '/') {
            op = next;
            continue;
        }
        sum += sign * product;
        product = 1;
        op = '*';
        sign = next == '-' ? -1 : 1;
    }
    return sum;
}

static long reduce(std::string s)
{
    for (auto close = s.find(')'); close != std::string::npos; close = s.find(')')) {
        const auto open = s.rfind('(', close);
        const long inside = flat(s.substr(open + 1, close - open - 1));
        s = s.substr(0, open) + std::to_string(inside) + s.substr(close + 1);
    }
    return flat(s);
}

int main()
{
    std::string line;
    while (std::getline(std::cin, line)) {
        line.erase(std::remove(line.begin(), line.end(), ' '), line.end());
        std::cout << reduce(line) << '\n';
    }
    return 0;
}
