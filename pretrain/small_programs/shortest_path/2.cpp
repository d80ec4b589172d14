#include <cstdio>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

using namespace std;

typedef pair<long long, int> Entry;

class Graph {
    map<int, vector<Entry>> adj;
    int n;
public:
    explicit Graph(int nodes) : n(nodes) {}
    void connect(int a, int b, long long w) { adj[a].push_back(Entry(w, b)); }

    vector<long long> distancesFrom(int source) const {
        vector<long long> dist(n + 1, -1);
        priority_queue<Entry, vector<Entry>, greater<Entry>> pq;
        pq.push(Entry(0, source));
        while (!pq.empty()) {
            long long d;
            int u;
            tie(d, u) = pq.top();
            pq.pop();
            if (dist[u] != -1) continue;
            dist[u] = d;
            auto found = adj.find(u);
            if (found == adj.end()) continue;
            for (auto &e : found->second)
                if (dist[e.second] == -1) pq.push(Entry(d + e.first, e.second));
        }
        return dist;
    }
};

int main() {
    int n, m, a, b, w;
    if (scanf("%d %d", &n, &m) != 2) return 1;
    Graph g(n);
    while (m--) {
        scanf("%d %d %d", &a, &b, &w);
        g.connect(a, b, w);
    }
    vector<long long> answer = g.distancesFrom(1);
    for (int i = 1; i <= n; i++) printf("%lld\n", answer[i]);
}
