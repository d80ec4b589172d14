#include <functional>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

// Knuth, Morris, Pratt as an object that is fed characters one at a time.
class Matcher {
    std::string word;
    std::vector<std::size_t> border;
    std::size_t state = 0;

    std::size_t advance(std::size_t from, char c) const
    {
        while (from == word.size() || (from > 0 && word[from] != c))
            from = border[from];
        return word[from] == c ? from + 1 : from;
    }

public:
    explicit Matcher(std::string w) : word(std::move(w)), border(word.size() + 1, 0)
    {
        std::size_t k = 0;
        for (std::size_t i = 1; i < word.size(); ++i) {
            while (k > 0 && word[i] != word[k])
                k = border[k];
            k += word[i] == word[k];
            border[i + 1] = k;
        }
    }

    bool feed(char c)
    {
        state = advance(state, c);
        return state == word.size();
    }
};

int main()
{
    std::string word, text;
    std::cin >> word >> text;
    Matcher matcher(word);
    long hits = 0, first = -1;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!matcher.feed(text[i]))
            continue;
        if (hits++ == 0)
            first = static_cast<long>(i + 1 - word.size());
    }
    std::cout << hits << " " << first << std::endl;
}
