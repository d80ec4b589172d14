#include <array>
#include <iostream>
#include <string_view>

// Day numbers by a formula over a year that starts in March.
class Date {
public:
    friend std::istream &operator>>(std::istream &in, Date &date)
    {
        char dash;
        return in >> date.year >> dash >> date.month >> dash >> date.day;
    }

    constexpr long serial() const
    {
        const int shifted = (month + 9) % 12;
        const long y = year - shifted / 10;
        return 365 * y + y / 4 - y / 100 + y / 400 + (shifted * 306 + 5) / 10 + day - 1;
    }

    std::string_view weekday() const
    {
        static constexpr std::array<std::string_view, 7> names{"Wednesday", "Thursday", "Friday", "Saturday",
                                                               "Sunday",    "Monday",   "Tuesday"};
        return names[static_cast<std::size_t>(serial() % 7)];
    }

    long operator-(const Date &other) const { return serial() - other.serial(); }

private:
    int year = 1, month = 1, day = 1;
};

int main()
{
    Date from, to;
    while (std::cin >> from >> to)
        std::cout << to - from << ' ' << to.weekday() << '\n';
}
