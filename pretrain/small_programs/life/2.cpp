#include <array>
#include <bitset>
#include <iostream>
#include <string>
#include <vector>

using namespace std;

// Rows as bitsets; a counter of three bits for all columns of a row at once.
const size_t WIDTH = 48;
typedef bitset<WIDTH> Row;

struct Counter {
    array<Row, 4> bit;
    void add(const Row &in) {
        Row carry = in;
        for (Row &b : bit) {
            Row next = b & carry;
            b ^= carry;
            carry = next;
        }
    }
    Row equals(int n) const {
        Row all;
        all.set();
        for (int i = 0; i < 4; i++) all &= (n >> i & 1) ? bit[i] : ~bit[i];
        return all;
    }
};

static Row turned(const Row &r, size_t by, size_t width) {
    Row mask;
    for (size_t i = 0; i < width; i++) mask.set(i);
    return ((r << by) | (r >> (width - by))) & mask;
}

int main() {
    size_t rows, width, steps;
    cin >> rows >> width >> steps;
    vector<Row> world(rows);
    for (Row &r : world) {
        string line;
        cin >> line;
        for (size_t i = 0; i < width; i++) r[i] = line[i] == '#';
    }
    while (steps--) {
        vector<Row> next;
        for (size_t i = 0; i < rows; i++) {
            Counter c;
            for (size_t k : {i + rows - 1, i, i + 1}) {
                const Row &r = world[k % rows];
                c.add(turned(r, 1, width));
                c.add(turned(r, width - 1, width));
                if (k != i) c.add(r);
            }
            next.push_back(c.equals(3) | (c.equals(2) & world[i]));
        }
        world = next;
    }
    size_t total = 0;
    for (const Row &r : world) {
        for (size_t i = 0; i < width; i++) cout << (r[i] ? '#' : '.');
        cout << '\n';
        total += r.count();
    }
    cout << total << endl;
}
