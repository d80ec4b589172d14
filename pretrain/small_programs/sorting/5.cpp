#include <iostream>
#include <memory>

template <typename K>
class Tree {
    struct Node {
        K key;
        std::unique_ptr<Node> left, right;
        explicit Node(const K &k) : key(k) {}
    };
    std::unique_ptr<Node> root;

    template <typename Visit>
    static void walk(const std::unique_ptr<Node> &n, Visit &visit)
    {
        if (!n) return;
        walk(n->left, visit);
        visit(n->key);
        walk(n->right, visit);
    }

public:
    void put(const K &key)
    {
        auto *at = &root;
        while (*at)
            at = key < (*at)->key ? &(*at)->left : &(*at)->right;
        *at = std::make_unique<Node>(key);
    }

    template <typename Visit>
    void each(Visit visit) const
    {
        walk(root, visit);
    }
};

int main()
{
    Tree<int> tree;
    int n, k;
    std::cin >> n;
    while (n-- > 0 && std::cin >> k)
        tree.put(k);
    bool first = true;
    tree.each([&first](int key) {
        if (!first) std::cout << ' ';
        first = false;
        std::cout << key;
    });
    std::cout << std::endl;
    return 0;
}
