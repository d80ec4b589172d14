#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>

using namespace std;

// Regular expression for words, a map for counts, a set of (-count, word) for the order.
int main() {
    string text((istreambuf_iterator<char>(cin)), istreambuf_iterator<char>());
    for (char &c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');

    map<string, int> counts;
    const regex word("[a-z]+");
    for (sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) counts[it->str()]++;

    set<pair<int, string>> order;
    for (const auto &entry : counts) {
        order.emplace(-entry.second, entry.first);
        if (order.size() > 5) order.erase(prev(order.end()));
    }
    for (const auto &entry : order) cout << entry.second << " " << -entry.first << endl;
    return 0;
}
