#include <cstdio>
#include <tuple>

using namespace std;

struct Day {
    int year, month, day;

    bool operator<(const Day &o) const { return tie(year, month, day) < tie(o.year, o.month, o.day); }

    Day &operator++() {
        static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        int length = lengths[month - 1] + (leap && month == 2 ? 1 : 0);
        if (++day > length) {
            day = 1;
            ++month;
        }
        if (month > 12) {
            month = 1;
            ++year;
        }
        return *this;
    }
};

template <class T>
long countUp(T from, const T &to) {
    long n = 0;
    for (; from < to; ++from) n++;
    return n;
}

int main() {
    const char *week[] = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"};
    Day a{}, b{};
    auto read = [](Day &d) { return scanf("%d-%d-%d", &d.year, &d.month, &d.day) == 3; };
    while (read(a) && read(b)) {
        long distance = b < a ? -countUp(b, a) : countUp(a, b);
        long since = countUp(Day{1900, 1, 1}, b);
        printf("%ld %s\n", distance, week[since % 7]);
    }
    return 0;
}
