#include <algorithm>
#include <functional>
#include <iostream>
#include <string>

using namespace std;

// The standard searcher of Boyer and Moore, called again after each hit.
int main() {
    string pattern, text;
    getline(cin, pattern);
    getline(cin, text);

    const boyer_moore_searcher finder(pattern.begin(), pattern.end());
    int count = 0;
    auto firstHit = text.end();
    auto from = text.begin();
    while (true) {
        auto hit = search(from, text.end(), finder);
        if (hit == text.end()) break;
        if (count == 0) firstHit = hit;
        count++;
        from = hit + 1;
    }
    long place = firstHit == text.end() ? -1 : distance(text.begin(), firstHit);
    cout << count << " " << place << "\n";
    return 0;
}
