#include <algorithm>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

using namespace std;

// Two deques; every sum that is made is a bit for each letter below it.
static int takeSmaller(deque<int> &a, deque<int> &b) {
    auto &from = b.empty() || (!a.empty() && a.front() < b.front()) ? a : b;
    int value = from.front();
    from.pop_front();
    return value;
}

static deque<int> letterCounts(string text) {
    sort(text.begin(), text.end());
    deque<int> counts;
    for (size_t i = 0; i < text.size(); i++) {
        if (i > 0 && text[i] == text[i - 1])
            counts.back()++;
        else
            counts.push_back(1);
    }
    sort(counts.begin(), counts.end());
    return counts;
}

int main() {
    string line;
    while (getline(cin, line)) {
        deque<int> letters = letterCounts(line), sums;
        const size_t different = letters.size();
        int bits = different == 1 ? letters[0] : 0;
        while (letters.size() + sums.size() > 1) {
            int first = takeSmaller(letters, sums);
            int both = first + takeSmaller(letters, sums);
            sums.push_back(both);
            bits += both;
        }
        cout << different << " " << bits << endl;
    }
    return 0;
}
