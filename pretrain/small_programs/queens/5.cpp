#include <functional>
#include <iostream>
#include <memory>
#include <stack>
#include <string>

// An explicit stack of states; a state shares its history with its siblings.
struct State {
    int column = 0;
    unsigned columns = 0, left = 0, right = 0;
    std::shared_ptr<const State> before;
};

static std::string history(const State *s)
{
    if (s == nullptr || s->column == 0)
        return "";
    return history(s->before.get()) + " " + std::to_string(s->column);
}

int main()
{
    int n;
    while (std::cin >> n) {
        long total = 0;
        std::string example;
        std::stack<std::shared_ptr<const State>> todo;
        todo.push(std::make_shared<State>());
        const unsigned goal = (1u << n) - 1;
        while (!todo.empty()) {
            auto state = todo.top();
            todo.pop();
            if (state->columns == goal) {
                if (total == 0)
                    example = history(state.get());
                ++total;
                continue;
            }
            // From the right, so that the leftmost column is on top of the stack.
            for (int c = n - 1; c >= 0; --c) {
                const unsigned bit = 1u << c;
                if (bit & (state->columns | state->left | state->right))
                    continue;
                auto child = std::make_shared<State>();
                child->column = c + 1;
                child->columns = state->columns | bit;
                child->left = (state->left | bit) << 1;
                child->right = (state->right | bit) >> 1;
                child->before = state;
                todo.push(std::move(child));
            }
        }
        std::cout << total << ":" << example << "\n";
    }
}
