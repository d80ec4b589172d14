// Searches to the end that a branch guards.
// rows: no

// name: last place where less
// key: n: percent
// limit: rate
int kernel(const T *key, T limit, int n)
{
    int last = -1;
    @for (int i = 0; i < n; i++) {
        if (key[i] < limit)
            last = i;
    }
    return last;
}

// name: place of the largest flagged
// T: int | int16_t | uint32_t | FLOATS
// mask: n: flags rate
// x: n: any
int kernel(const T *x, const uint8_t *mask, int n)
{
    T best = 0;
    int place = -1;
    @for (int i = 0; i < n; i++) {
        if (mask[i]) {
            if (x[i] > best) {
                best = x[i];
                place = i;
            }
        }
    }
    return place;
}

// name: ends of runs
// key: n + 1: percent
// limit: rate
int kernel(const T *key, T limit, int n)
{
    int count = 0;
    @for (int i = 0; i < n; i++) {
        if (key[i] < limit) {
            if (!(key[i + 1] < limit))
                count++;
        }
    }
    return count;
}

// name: longest run
// mask: n: flags rate
int kernel(const T *mask, int n)
{
    int run = 0, longest = 0;
    @for (int i = 0; i < n; i++) {
        if (mask[i]) {
            run++;
            if (run > longest)
                longest = run;
        } else {
            run = 0;
        }
    }
    return longest;
}

// name: nearest of those that are less
// T: int | int64_t | FLOATS
// key: n: percent
// limit: rate
// target: 3
T kernel(const T *x, const T *key, T limit, T target, int n)
{
    T best = 1000000;
    @for (int i = 0; i < n; i++) {
        if (key[i] < limit) {
            T d = x[i] > target ? x[i] - target : target - x[i];
            if (d < best)
                best = d;
        }
    }
    return best;
}

// name: last value where flagged
// mask: n: flags rate
T kernel(const T *x, const uint8_t *mask, int n)
{
    T value = 0;
    @for (int i = 0; i < n; i++) {
        if (mask[i])
            value = x[i];
    }
    return value;
}

// name: matches among flagged
// mask: n: flags rate
// target: 3
int kernel(const T *x, const int *mask, T target, int n)
{
    int found = 0;
    @for (int i = 0; i < n; i++) {
        if (mask[i] && x[i] == target)
            found++;
    }
    return found;
}

// name: differences by kind
// key: n: percent
// limit: rate
int kernel(const T *a, const T *b, const T *key, T limit, int n)
{
    int more = 0;
    @for (int i = 0; i < n; i++) {
        if (key[i] < limit)
            more += a[i] > b[i];
        else
            more -= a[i] < b[i];
    }
    return more;
}
