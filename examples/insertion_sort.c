// Several functions, one of them external: the graph has call edges, and embeddings per function differ.
extern void report(int length);

__attribute__((noinline)) static void shift_right(int *values, int from, int to) {
    for (int i = to; i > from; --i)
        values[i] = values[i - 1];
}

__attribute__((noinline)) static int position(const int *values, int length, int key) {
    int i = 0;
    while (i < length && values[i] <= key)
        ++i;
    return i;
}

void insertion_sort(int *values, int length) {
    for (int i = 1; i < length; ++i) {
        int key = values[i];
        int at = position(values, i, key);
        shift_right(values, at, i);
        values[at] = key;
    }
    report(length);
}
