#include <cctype>
#include <iostream>
#include <string>
#include <string_view>

class Parser {
public:
    explicit Parser(std::string_view source) : rest(source) {}

    long sum()
    {
        long total = product();
        while (true) {
            const char op = peek();
            if (op != '+' && op != '-')
                return total;
            rest.remove_prefix(1);
            const long right = product();
            total = op == '+' ? total + right : total - right;
        }
    }

private:
    std::string_view rest;

    char peek()
    {
        while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())))
            rest.remove_prefix(1);
        return rest.empty() ? '\0' : rest.front();
    }

    long product()
    {
        long total = atom();
        for (char op = peek(); op == '*' || op == '/'; op = peek()) {
            rest.remove_prefix(1);
            const long right = atom();
            total = op == '*' ? total * right : total / right;
        }
        return total;
    }

    long atom()
    {
        const char c = peek();
        if (c == '-') {
            rest.remove_prefix(1);
            return -atom();
        }
        if (c == '(') {
            rest.remove_prefix(1);
            const long inside = sum();
            peek();
            rest.remove_prefix(1);
            return inside;
        }
        std::size_t length = 0;
        while (length < rest.size() && std::isdigit(static_cast<unsigned char>(rest[length])))
            ++length;
        const long number = std::stol(std::string(rest.substr(0, length)));
        rest.remove_prefix(length);
        return number;
    }
};

int main()
{
    for (std::string line; std::getline(std::cin, line);)
        std::cout << Parser(line).sum() << '\n';
}
