/* $name: $head. Link with -lm.$about
 *
 * $prototype;
 *
 * features: $columns finite numbers, in the order of ${name}_features.$settings
 * score: room for $scores.
 * Returns $returns; -1 where $refused.$choices
 */
#include <math.h>

$prototype;
extern const char *const ${name}_features[$columns];

const char *const ${name}_features[$columns] = {
$features};

$tables
$prototype
{
    for (int i = 0; i < $columns; i++)
        if (!isfinite(features[i])) return -1;
$code    for (int i = 0; i < $count; i++) score[i] = $result[i];
$choice}
