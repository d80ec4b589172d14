#include <cstdio>
#include <forward_list>
#include <functional>
#include <numeric>

using namespace std;

// A number as a singly linked list of decimal digits; recursion prints it from the far end.
typedef forward_list<int> Digits;

static void times(Digits &number, int factor) {
    int carry = 0;
    auto last = number.before_begin();
    for (int &digit : number) {
        carry += digit * factor;
        digit = carry % 10;
        carry /= 10;
        ++last;
    }
    while (carry) {
        last = number.insert_after(last, carry % 10);
        carry /= 10;
    }
}

static void print(Digits::const_iterator at, Digits::const_iterator end) {
    if (at == end) return;
    int digit = *at;
    print(++at, end);
    putchar('0' + digit);
}

int main() {
    int n;
    while (scanf("%d", &n) == 1) {
        Digits number{1};
        for (int i = 1; i <= n; i++) times(number, i);
        print(number.cbegin(), number.cend());
        printf(" %d\n", accumulate(number.begin(), number.end(), 0));
    }
    return 0;
}
