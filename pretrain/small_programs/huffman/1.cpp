#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <queue>
#include <string>
#include <vector>

struct Node {
    long weight;
    std::shared_ptr<Node> left, right;
};
using NodePtr = std::shared_ptr<Node>;

static NodePtr build(const std::map<char, long> &counts)
{
    auto heavier = [](const NodePtr &a, const NodePtr &b) { return a->weight > b->weight; };
    std::priority_queue<NodePtr, std::vector<NodePtr>, decltype(heavier)> queue(heavier);
    for (const auto &entry : counts)
        queue.push(std::make_shared<Node>(Node{entry.second, nullptr, nullptr}));
    while (queue.size() > 1) {
        NodePtr a = queue.top();
        queue.pop();
        NodePtr b = queue.top();
        queue.pop();
        queue.push(std::make_shared<Node>(Node{a->weight + b->weight, a, b}));
    }
    return queue.top();
}

static long codedBits(const Node &node, long depth)
{
    if (!node.left)
        return node.weight * depth;
    return codedBits(*node.left, depth + 1) + codedBits(*node.right, depth + 1);
}

int main()
{
    std::string line;
    while (std::getline(std::cin, line)) {
        std::map<char, long> counts;
        for (char c : line)
            ++counts[c];
        const NodePtr root = build(counts);
        std::cout << counts.size() << ' ' << codedBits(*root, counts.size() == 1 ? 1 : 0) << '\n';
    }
}
