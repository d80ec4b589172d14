#include <algorithm>
#include <cstdio>
#include <vector>

using namespace std;

// The one who leaves is rotated to the front and dropped there.
template <class Visit>
void eliminate(int n, int k, Visit visit) {
    vector<int> circle;
    circle.reserve(static_cast<size_t>(n));
    for (int i = n; i >= 1; i--) circle.push_back(i); // turned round: the back is cheap to drop
    while (!circle.empty()) {
        const auto steps = static_cast<size_t>(k - 1) % circle.size();
        rotate(circle.rbegin(), circle.rbegin() + static_cast<long>(steps), circle.rend());
        visit(circle.back());
        circle.pop_back();
    }
}

int main() {
    int n, k;
    while (scanf("%d %d", &n, &k) == 2) {
        eliminate(n, k, [](int who) { printf("%d ", who); });
        putchar('\n');
    }
    return 0;
}
