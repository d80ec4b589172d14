#include <bitset>
#include <iostream>
#include <iterator>
#include <optional>
#include <vector>

using namespace std;

typedef bitset<16> Lines;

struct Result {
    long ways = 0;
    optional<vector<int>> first;
};

static void solve(size_t n, Lines cols, Lines up, Lines down, vector<int> &sofar, Result &result) {
    if (sofar.size() == n) {
        result.ways++;
        if (!result.first) result.first = sofar;
        return;
    }
    const Lines taken = cols | up | down;
    for (size_t c = 0; c < n; c++) {
        if (taken.test(c)) continue;
        Lines here;
        here.set(c);
        sofar.push_back(static_cast<int>(c) + 1);
        solve(n, cols | here, (up | here) << 1, (down | here) >> 1, sofar, result);
        sofar.pop_back();
    }
}

int main() {
    size_t n;
    while (cin >> n) {
        Result r;
        vector<int> stack;
        solve(n, {}, {}, {}, stack, r);
        cout << r.ways << ": ";
        if (r.first) copy(r.first->begin(), r.first->end(), ostream_iterator<int>(cout, " "));
        cout << endl;
    }
}
