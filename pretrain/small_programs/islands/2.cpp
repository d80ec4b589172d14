#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <string>
#include <vector>

using namespace std;

class DisjointSets {
    vector<int> up;

public:
    explicit DisjointSets(size_t n) : up(n) { iota(up.begin(), up.end(), 0); }
    int root(int x) { return up[x] == x ? x : up[x] = root(up[x]); }
    void join(int a, int b) { up[root(a)] = root(b); }
};

int main() {
    int h, w;
    cin >> h >> w;
    string all, line;
    while (cin >> line) all += line;

    DisjointSets sets(all.size());
    auto land = [&all](int i) { return all[static_cast<size_t>(i)] == '#'; };
    for (int i = 0; i < h * w; i++) {
        if (!land(i)) continue;
        if ((i + 1) % w != 0 && land(i + 1)) sets.join(i, i + 1);
        if (i + w < h * w && land(i + w)) sets.join(i, i + w);
    }
    map<int, int> members;
    for (int i = 0; i < h * w; i++)
        if (land(i)) members[sets.root(i)]++;
    int largest = 0;
    for (auto &entry : members) largest = max(largest, entry.second);
    cout << members.size() << " " << largest << endl;
    return 0;
}
