#include <algorithm>
#include <iostream>
#include <iterator>
#include <valarray>
#include <vector>

using namespace std;

// One row; the shifted copy of the row is the row with the item packed.
int main() {
    size_t n, capacity;
    cin >> n >> capacity;
    vector<int> row(capacity + 1, 0);
    for (size_t i = 0; i < n; i++) {
        size_t weight;
        int value;
        cin >> weight >> value;
        if (weight > capacity) continue;
        vector<int> packed(row.begin(), row.end() - static_cast<long>(weight));
        for (auto &v : packed) v += value;
        transform(packed.begin(), packed.end(), row.begin() + static_cast<long>(weight),
                  row.begin() + static_cast<long>(weight), [](int a, int b) { return max(a, b); });
    }
    auto lightest = lower_bound(row.begin(), row.end(), row.back());
    cout << row.back() << " " << distance(row.begin(), lightest) << endl;
    return 0;
}
