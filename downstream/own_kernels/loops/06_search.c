// Places and first hits: loops whose value is an index, and loops that stop early.
// HITS is where the hit is: early, in the middle, nowhere.
// HITS: n / 8 | n / 2 | n - 1 | n
// weight: 1

// name: place of minimum
// trip: n - 1
// x: n: any
I kernel(const T *x, I n)
{
    I best = 0;
    @for (I i = 1; i < n; i++)
        if (x[i] < x[best])
            best = i;
    return best;
}

// name: minimum with place
// rows: no
// x: n: any
// low: 1
int kernel(const T *x, T *low, int n)
{
    T best = x[0];
    int place = 0;
    @for (int i = 0; i < n; i++) {
        if (x[i] < best) {
            best = x[i];
            place = i;
        }
    }
    *low = best;
    return place;
}

// name: last place of value
// T: INTEGERS
// weight: 4
// x: n: percent
// value: 7
J kernel(const T *x, T value, J n)
{
    J place = -1;
    @for (J i = 0; i < n; i++)
        if (x[i] == value)
            place = i;
    return place;
}

// name: first nonzero
// trip: unknown
// constant: no
// H: HITS
// x: n: only H
I kernel(const T *x, I n)
{
    I i;
    @for (i = 0; i < n; i++)
        if (x[i] != 0)
            break;
    return i;
}

// name: equal arrays
// trip: unknown
// rows: no
// H: HITS
// a: n: only H
// b: n: zero
int kernel(const T *a, const T *b, I n)
{
    @for (I i = 0; i < n; i++)
        if (a[i] != b[i])
            return 0;
    return 1;
}

// name: sorted so far
// T: int | uint32_t | float | double | int64_t
// trip: unknown
// x: n: sorted
I kernel(const T *x, I n)
{
    I i = 1;
    @while (i < n && x[i - 1] <= x[i])
        i++;
    return i;
}

// name: sum until budget
// T: uint32_t | float | double | uint64_t
// trip: unknown
// cost: n: positive
// budget: n * 5
T kernel(const T *cost, T budget, I n)
{
    T spent = 0;
    @for (I i = 0; i < n; i++) {
        if (spent > budget)
            break;
        spent += cost[i];
    }
    return spent;
}

// name: copy until zero
// trip: unknown
// rows: no
// x: n: positive
I kernel(T *out, const T *x, I n)
{
    I i;
    @for (i = 0; i < n; i++) {
        if (x[i] == 0)
            break;
        out[i] = x[i] + 1;
    }
    return i;
}

// name: count of sign changes
// T: int8_t | int16_t | int | float | double
// trip: n - 1
// weight: 4
int kernel(const T *x, I n)
{
    int changes = 0;
    @for (I i = 0; i + 1 < n; i++)
        changes += (x[i] < 0) != (x[i + 1] < 0);
    return changes;
}

// name: mismatches
// weight: 4
// C: int | size_t | uint16_t
// a: n: flags 30
// b: n: flags 30
C kernel(const T *a, const T *b, I n)
{
    C wrong = 0;
    @for (I i = 0; i < n; i++)
        if (a[i] != b[i])
            wrong++;
    return wrong;
}

// name: maximum of magnitudes with place
// T: int | float | double | int16_t
// x: n
int kernel(const T *x, int n)
{
    T best = 0;
    int place = 0;
    @for (int i = 0; i < n; i++) {
        T size = x[i] < 0 ? -x[i] : x[i];
        if (size > best) {
            best = size;
            place = i;
        }
    }
    return place;
}

// name: two exits
// trip: unknown
// rows: no
// H: 100 | 99
// x: n: percent
// low: 0
// high: H
int kernel(const T *x, T low, T high, int n)
{
    @for (int i = 0; i < n; i++) {
        if (x[i] < low)
            return i;
        if (x[i] > high)
            return -i;
    }
    return n;
}
