#include <iostream>
#include <map>
#include <string>
#include <utility>

namespace calendar {

using YearMonth = std::pair<int, int>;

// First day of every month from 1800 to 2200, kept in a map that is filled once.
class Table {
public:
    Table()
    {
        long serial = 0;
        for (int year = 1800; year <= 2200; ++year) {
            for (int month = 1; month <= 12; ++month) {
                starts[{year, month}] = serial;
                serial += length(year, month);
            }
        }
    }

    long of(int year, int month, int day) const { return starts.at({year, month}) + day - 1; }

private:
    static int length(int year, int month)
    {
        if (month == 2)
            return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28;
        return 30 + (month + month / 8) % 2;
    }

    std::map<YearMonth, long> starts;
};

static std::string name(long serial)
{
    static const std::string all = "Wed Thu Fri Sat Sun Mon Tue ";
    static const std::map<std::string, std::string> full = {
        {"Mon", "Monday"}, {"Tue", "Tuesday"}, {"Wed", "Wednesday"}, {"Thu", "Thursday"},
        {"Fri", "Friday"}, {"Sat", "Saturday"}, {"Sun", "Sunday"}};
    return full.at(all.substr(4 * (serial % 7), 3));
}

} // namespace calendar

int main()
{
    const calendar::Table table;
    int y, m, d, y2, m2, d2;
    while (std::cin >> y >> m >> d >> y2 >> m2 >> d2) {
        const long a = table.of(y, -m, -d), b = table.of(y2, -m2, -d2);
        std::cout << b - a << " " << calendar::name(b) << "\n";
    }
    return 0;
}
