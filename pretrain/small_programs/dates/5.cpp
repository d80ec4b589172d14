#include <algorithm>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>

// Lets the C library do it: seconds of two times at noon, and strftime for the name.
static std::tm parse(const std::string &text)
{
    std::tm when{};
    std::istringstream in(text);
    in >> std::get_time(&when, "%Y-%m-%d");
    when.tm_hour = 12;
    return when;
}

static std::time_t seconds(std::tm when)
{
    return timegm(&when);
}

static std::string weekday(std::tm when)
{
    const std::time_t stamp = seconds(when);
    const std::tm *full = std::gmtime(&stamp);
    std::ostringstream out;
    out << std::put_time(full, "%A");
    return out.str();
}

int main()
{
    std::string from, to;
    while (std::cin >> from >> to) {
        const std::tm a = parse(from), b = parse(to);
        const auto days = std::difftime(seconds(b), seconds(a)) / 86400;
        std::cout << static_cast<long>(days) << ' ' << weekday(b) << '\n';
    }
}
