#include <array>
#include <functional>
#include <iostream>
#include <memory>
#include <queue>
#include <string>
#include <vector>

// A trie whose nodes own their children; the ranking is a bounded heap.
class Trie {
public:
    void add(const std::string &word)
    {
        Trie *node = this;
        for (char c : word) {
            auto &next = node->children_[static_cast<std::size_t>(c - 'a')];
            if (!next)
                next = std::make_unique<Trie>();
            node = next.get();
        }
        ++node->count_;
    }

    void visit(const std::function<void(const std::string &, int)> &f, const std::string &prefix = "") const
    {
        if (count_ > 0)
            f(prefix, count_);
        for (std::size_t i = 0; i < children_.size(); ++i)
            if (children_[i])
                children_[i]->visit(f, prefix + static_cast<char>('a' + i));
    }

private:
    std::array<std::unique_ptr<Trie>, 26> children_;
    int count_ = 0;
};

int main()
{
    Trie trie;
    std::string word;
    for (int c = std::cin.get();; c = std::cin.get()) {
        if (c != EOF && std::isalpha(c)) {
            word.push_back(static_cast<char>(std::tolower(c)));
            continue;
        }
        if (!word.empty())
            trie.add(word);
        word.clear();
        if (c == EOF)
            break;
    }
    using Ranked = std::pair<int, std::string>;
    auto better = [](const Ranked &a, const Ranked &b) {
        return a.first > b.first || (a.first == b.first && a.second < b.second);
    };
    std::priority_queue<Ranked, std::vector<Ranked>, decltype(better)> heap(better);
    trie.visit([&heap](const std::string &w, int n) {
        heap.emplace(n, w);
        if (heap.size() > 5)
            heap.pop();
    });
    std::vector<Ranked> shown;
    for (; !heap.empty(); heap.pop())
        shown.insert(shown.begin(), heap.top());
    for (const auto &[n, w] : shown)
        std::cout << w << " " << n << "\n";
    return 0;
}
