/* dynamic: the distance of pairs of words, words of any length up to 64. */
void edit_distance(long n, const int *length, const unsigned char *words, int *distance)
{
#pragma omp parallel for
    for (long pair = 0; pair < n; pair++) {
        const unsigned char *left = words + 128 * pair, *right = left + 64;
        int row[65];
        for (int j = 0; j <= length[2 * pair + 1]; j++)
            row[j] = j;
        for (int i = 1; i <= length[2 * pair]; i++) {
            int corner = row[0];
            row[0] = i;
            for (int j = 1; j <= length[2 * pair + 1]; j++) {
                int above = row[j], best = corner + (left[i - 1] != right[j - 1]);
                best = above + 1 < best ? above + 1 : best;
                row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
                corner = above;
            }
        }
        distance[pair] = row[length[2 * pair + 1]];
    }
}
