/* $name: a head of mirenc $version, of kind $kind.$about Link with -lm.
 *
 *     $prototype;
 *
 * features: $columns finite numbers, in the order of ${name}_features.$settings
 * score: array of $width that is filled: with preferences, which sum to 1, if the head chooses, else with predictions.
 * Returns the index of the highest score if the head chooses, else 0; -1 if a number is not finite or the count of
 * settings is out of range.$choices
 */
#include <math.h>

#define EACH(n) for (int i = 0; i < (n); i++)
#define ADD(v, n, x, y) EACH(n) v[i] = x + y
#define SUB(v, n, x, y) EACH(n) v[i] = x - y
#define MUL(v, n, x, y) EACH(n) v[i] = x * y
#define DIV(v, n, x, y) EACH(n) v[i] = x / y
#define MAX(v, n, x, y) EACH(n) v[i] = x > y ? x : y
#define COPY(v, n, x) EACH(n) v[i] = x
#define SUM(v, n, x) v[0] = 0; EACH(n) v[0] += x
#define SOFTMAX(v, n, x) \
    { \
        double most = x[0], sum = 0; \
        EACH(n) most = x[i] > most ? x[i] : most; \
        EACH(n) sum += v[i] = exp(x[i] - most); \
        EACH(n) v[i] /= sum; \
    }
#define MATMUL(v, n, x, m, weights) \
    EACH(n) v[i] = 0; \
    for (int j = 0; j < (m); j++) EACH(n) v[i] += x[j] * weights[j * (n) + i]
/* All trees at once, level by level: no step waits for the one before it. A leaf is its own child. */
#define FOREST(v, n, x, trees, levels, root, column, cut, child, value) \
    { \
        int node[trees]; \
        for (int tree = 0; tree < (trees); tree++) node[tree] = root[tree]; \
        for (int level = 0; level < (levels); level++) \
            for (int tree = 0; tree < (trees); tree++) \
                node[tree] = child[2 * node[tree] + (x[column[node[tree]]] <= cut[node[tree]])]; \
        EACH(n) v[i] = 0; \
        for (int tree = 0; tree < (trees); tree++) EACH(n) v[i] += value; \
    }
#define CHOOSE(n) \
    int choice = 0; \
    EACH(n) if (score[i] > score[choice]) choice = i; \
    return choice

$prototype;
extern const char *const ${name}_features[$columns];

const char *const ${name}_features[$columns] = {
$features};

$tables
$prototype
{
    EACH($columns) if (!isfinite(features[i])) return -1;
$code    EACH($count) score[i] = $result[i];
    $choose;
}
