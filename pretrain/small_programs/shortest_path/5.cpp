#include <deque>
#include <iostream>
#include <list>
#include <string>
#include <unordered_map>

// Label correcting with nodes as objects that point at each other.
struct Node;

struct Link {
    Node *to;
    int cost;
};

struct Node {
    std::list<Link> links;
    long label = -1;
    bool waiting = false;

    bool offer(long value)
    {
        if (label >= 0 && label <= value)
            return false;
        label = value;
        return true;
    }
};

int main()
{
    int n, m;
    std::cin >> n >> m;
    std::unordered_map<int, Node> nodes;
    for (int i = 1; i <= n; ++i)
        nodes[i];
    while (m-- > 0) {
        int a, b, c;
        std::cin >> a >> b >> c;
        nodes.at(a).links.push_front({&nodes.at(b), c});
    }
    std::deque<Node *> queue;
    nodes.at(1).offer(0);
    queue.push_back(&nodes.at(1));
    while (!queue.empty()) {
        Node *current = queue.front();
        queue.pop_front();
        current->waiting = false;
        for (const auto &link : current->links) {
            if (link.to->offer(current->label + link.cost) && !link.to->waiting) {
                link.to->waiting = true;
                queue.push_back(link.to);
            }
        }
    }
    std::string out;
    for (int i = 1; i <= n; ++i)
        out += std::to_string(nodes.at(i).label) + "\n";
    std::cout << out;
    return 0;
}
