#include <cctype>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stack>
#include <string>

using Binary = std::function<long(long, long)>;

struct Operator {
    int strength;
    Binary run;
};

// Operators are entries of a table; a unary minus is multiplication by -1 of higher strength.
static const std::map<char, Operator> table = {
    {'+', {1, std::plus<long>()}},
    {'-', {1, std::minus<long>()}},
    {'*', {2, std::multiplies<long>()}},
    {'/', {2, std::divides<long>()}},
    {'n', {3, std::multiplies<long>()}},
};

static void reduce(std::stack<long> &values, std::stack<char> &pending)
{
    const Operator &op = table.at(pending.top());
    pending.pop();
    const long right = values.top();
    values.pop();
    values.top() = op.run(values.top(), right);
}

static long evaluate(const std::string &text)
{
    std::stack<long> values;
    std::stack<char> pending;
    std::istringstream in(text);
    bool wants_value = true;
    for (char c; in >> c;) {
        if (std::isdigit(static_cast<unsigned char>(c))) {
            long number;
            in.putback(c);
            in >> number;
            values.push(number);
            wants_value = false;
        } else if (c == '(') {
            pending.push(c);
        } else if (c == ')') {
            while (pending.top() != '(')
                reduce(values, pending);
            pending.pop();
        } else if (wants_value && c == '-') {
            values.push(-1);
            pending.push('n');
        } else {
            while (!pending.empty() && pending.top() != '(' && table.at(pending.top()).strength >= table.at(c).strength)
                reduce(values, pending);
            pending.push(c);
            wants_value = true;
        }
        if (c == '(')
            wants_value = true;
    }
    for (; !pending.empty();)
        reduce(values, pending);
    return values.top();
}

int main()
{
    std::string line;
    while (std::getline(std::cin, line))
        std::cout << evaluate(line) << std::endl;
}
