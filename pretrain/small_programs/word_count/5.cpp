#include <cctype>
#include <iostream>
#include <list>
#include <string>
#include <utility>

// A list that keeps itself in order: a word that is met again moves up past the less frequent.
struct Counted {
    std::string word;
    int count;

    bool before(const Counted &other) const
    {
        if (count != other.count)
            return count > other.count;
        return word < other.word;
    }
};

class Ranking {
public:
    void meet(const std::string &word)
    {
        Counted entry{word, 1};
        for (auto it = entries.begin(); it != entries.end(); ++it) {
            if (it->word == word) {
                entry.count = it->count + 1;
                entries.erase(it);
                break;
            }
        }
        auto place = entries.begin();
        while (place != entries.end() && place->before(entry))
            ++place;
        entries.insert(place, entry);
    }

    void print(std::ostream &out, int most) const
    {
        for (const Counted &entry : entries) {
            if (most-- == 0)
                break;
            out << entry.word << " " << entry.count << "\n";
        }
    }

private:
    std::list<Counted> entries;
};

int main()
{
    Ranking ranking;
    std::string word;
    char c;
    while (std::cin.get(c)) {
        if (std::isalpha(static_cast<unsigned char>(c)))
            word += static_cast<char>(std::tolower(c));
        else if (!word.empty())
            ranking.meet(std::exchange(word, ""));
    }
    if (!word.empty())
        ranking.meet(word);
    ranking.print(std::cout, 5);
}
