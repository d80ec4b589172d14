#include <iostream>
#include <memory>
#include <sstream>
#include <string>

struct Expr {
    virtual ~Expr() = default;
    virtual long value() const = 0;
};
using ExprPtr = std::unique_ptr<Expr>;

struct Constant : Expr {
    long v;
    explicit Constant(long x) : v(x) {}
    long value() const override { return v; }
};

struct Binary : Expr {
    char op;
    ExprPtr lhs, rhs;
    Binary(char o, ExprPtr l, ExprPtr r) : op(o), lhs(std::move(l)), rhs(std::move(r)) {}
    long value() const override
    {
        const long l = lhs->value(), r = rhs->value();
        return op == '+' ? l + r : op == '-' ? l - r : op == '*' ? l * r : l / r;
    }
};

static ExprPtr additive(std::istream &in);

static ExprPtr simple(std::istream &in)
{
    char c;
    in >> c;
    if (c == '-')
        return std::make_unique<Binary>('-', std::make_unique<Constant>(0), simple(in));
    if (c == '(') {
        ExprPtr inner = additive(in);
        in >> c;
        return inner;
    }
    in.unget();
    long n;
    in >> n;
    return std::make_unique<Constant>(n);
}

static ExprPtr multiplicative(std::istream &in)
{
    ExprPtr left = simple(in);
    for (char c; in >> std::ws, c = static_cast<char>(in.peek()), c == '*' || c == '/';) {
        in.get();
        left = std::make_unique<Binary>(c, std::move(left), simple(in));
    }
    return left;
}

static ExprPtr additive(std::istream &in)
{
    ExprPtr left = multiplicative(in);
    for (char c; c = static_cast<char>(in.peek()), c == '+' || c == '-';) {
        in.get();
        left = std::make_unique<Binary>(c, std::move(left), multiplicative(in));
    }
    return left;
}

int main()
{
    std::string line;
    while (std::getline(std::cin, line)) {
        std::istringstream in(line + " ;");
        std::cout << additive(in)->value() << '\n';
    }
}
