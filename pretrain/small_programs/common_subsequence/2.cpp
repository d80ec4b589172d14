#include <cstdio>
#include <iostream>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

using namespace std;

// The distance first, over one row; the length follows from it.
static int distance(const string &a, const string &b) {
    vector<int> row(b.size() + 1);
    iota(row.begin(), row.end(), 0);
    for (size_t i = 1; i <= a.size(); i++) {
        int diagonal = row[0];
        row[0] = static_cast<int>(i);
        for (size_t j = 1; j <= b.size(); j++) {
            int value = a[i - 1] == b[j - 1] ? diagonal : 1 + min(row[j], row[j - 1]);
            diagonal = exchange(row[j], value);
        }
    }
    return row.back();
}

int main() {
    string a, b;
    while (cin >> a >> b) {
        int d = distance(a, b);
        int common = (static_cast<int>(a.size() + b.size()) - d) / 2;
        printf("%d %d\n", common, d);
    }
    return 0;
}
