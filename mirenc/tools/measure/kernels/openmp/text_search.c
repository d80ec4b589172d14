/* counting: how often a word of four letters stands in each line, lines of any length. */
void text_search(long n, const int *start, const unsigned char *text, const unsigned char *word, int *found)
{
#pragma omp parallel for
    for (long line = 0; line < n; line++) {
        int count = 0;
        for (int i = start[line]; i + 4 <= start[line + 1]; i++) {
            int same = 0;
            while (same < 4 && text[i + same] == word[same])
                same++;
            count += same == 4;
        }
        found[line] = count;
    }
}
