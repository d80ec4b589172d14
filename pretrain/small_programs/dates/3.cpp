#include <iostream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

static bool leap_year(int y)
{
    if (y % 400 == 0) return true;
    if (y % 100 == 0) return false;
    return y % 4 == 0;
}

static std::vector<int> month_lengths(int y)
{
    return {31, leap_year(y) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
}

// Whole years, whole months, days: summed up one kind after the other.
static long days_since_1800(const std::string &iso)
{
    int y, m, d;
    std::stringstream(iso.substr(0, 4)) >> y;
    std::stringstream(iso.substr(5, 2)) >> m;
    std::stringstream(iso.substr(8, 2)) >> d;
    long days = d - 1;
    for (int year = 1800; year < y; ++year)
        days += leap_year(year) ? 366 : 365;
    const auto lengths = month_lengths(y);
    return std::accumulate(lengths.begin(), lengths.begin() + (m - 1), days);
}

int main()
{
    const std::vector<std::string> names = {"Wednesday", "Thursday", "Friday", "Saturday",
                                            "Sunday",    "Monday",   "Tuesday"};
    for (std::string a, b; std::cin >> a >> b;) {
        const long end = days_since_1800(b);
        std::cout << end - days_since_1800(a) << " " << names.at(end % 7) << std::endl;
    }
}
