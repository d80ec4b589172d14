#include <algorithm>
#include <cctype>
#include <iomanip>
#include <iostream>
#include <locale>
#include <string>
#include <vector>

// A character class that takes all but letters for space, so that >> reads words; then sort and count runs.
struct LettersOnly : std::ctype<char> {
    LettersOnly() : std::ctype<char>(table()) {}

    static const mask *table()
    {
        static std::vector<mask> masks(table_size, space);
        std::fill(masks.begin() + 'a', masks.begin() + 'z' + 1, alpha);
        std::fill(masks.begin() + 'A', masks.begin() + 'Z' + 1, alpha);
        return masks.data();
    }
};

struct Run {
    std::string word;
    long length;
};

int main()
{
    std::cin.imbue(std::locale(std::locale(), new LettersOnly));
    std::vector<std::string> words;
    for (std::string word; std::cin >> word;) {
        for (char &c : word)
            c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        words.push_back(std::move(word));
    }
    std::sort(words.begin(), words.end());
    std::vector<Run> runs;
    for (auto from = words.begin(); from != words.end();) {
        auto to = std::upper_bound(from, words.end(), *from);
        runs.push_back({*from, to - from});
        from = to;
    }
    std::sort(runs.begin(), runs.end(), [](const Run &a, const Run &b) {
        return a.length != b.length ? a.length > b.length : a.word < b.word;
    });
    runs.resize(std::min<std::size_t>(runs.size(), 5));
    for (const Run &run : runs)
        std::cout << run.word << ' ' << run.length << std::endl;
}
