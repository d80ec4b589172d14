#include <iostream>
#include <regex>
#include <string>
#include <vector>

// Tokens by a regular expression, then precedence climbing over their list.
using Tokens = std::vector<std::string>;

static int level(const std::string &t)
{
    if (t == "+" || t == "-") return 1;
    if (t == "*" || t == "/") return 2;
    return 0;
}

static long climb(const Tokens &t, std::size_t &i, int minimum)
{
    long value;
    const std::string first = t.at(i++);
    if (first == "-") {
        value = -climb(t, i, 3);
    } else if (first == "(") {
        value = climb(t, i, 1);
        ++i;
    } else {
        value = std::stol(first);
    }
    while (i < t.size() && level(t[i]) >= minimum) {
        const std::string op = t[i++];
        const long other = climb(t, i, level(op) + 1);
        switch (op[0]) {
        case '+': value += other; break;
        case '-': value -= other; break;
        case '*': value *= other; break;
        default: value /= other;
        }
    }
    return value;
}

int main()
{
    const std::regex token("[0-9]+|[-+*/()]");
    std::string line;
    while (std::getline(std::cin, line)) {
        Tokens tokens;
        for (std::sregex_iterator it(line.begin(), line.end(), token), end; it != end; ++it)
            tokens.push_back(it->str());
        std::size_t position = 0;
        std::cout << climb(tokens, position, 1) << "\n";
    }
    return 0;
}
