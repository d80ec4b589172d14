#include <iostream>
#include <string>
#include <vector>

using namespace std;

template <class T>
class FenwickTree {
    vector<T> tree;

    static size_t low(size_t i) { return i & (~i + 1); }

public:
    explicit FenwickTree(size_t n) : tree(n + 1) {}

    // Linear: every node hands its sum on to its parent once.
    explicit FenwickTree(const vector<T> &values) : FenwickTree(values.size()) {
        for (size_t i = 1; i < tree.size(); i++) {
            tree[i] += values[i - 1];
            if (i + low(i) < tree.size()) tree[i + low(i)] += tree[i];
        }
    }

    void add(size_t i, T amount) {
        while (i < tree.size()) {
            tree[i] += amount;
            i += low(i);
        }
    }

    T prefix(size_t i) const { return i == 0 ? T() : tree[i] + prefix(i - low(i)); }
    T range(size_t from, size_t to) const { return prefix(to) - prefix(from - 1); }
};

int main() {
    size_t n, orders;
    cin >> n;
    vector<long> values(n);
    for (auto &v : values) cin >> v;
    FenwickTree<long> tree(values);
    cin >> orders;
    for (size_t k = 0; k < orders; k++) {
        string what;
        size_t a;
        long b;
        cin >> what >> a >> b;
        if (what == "sum")
            cout << tree.range(a, static_cast<size_t>(b)) << endl;
        else
            tree.add(a, b - tree.range(a, a));
    }
    return 0;
}
