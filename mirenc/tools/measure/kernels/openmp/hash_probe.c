/* counting: looking numbers up in an open hash table. */
void hash_probe(long n, const int *slots, const int *wanted, int *probes)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++) {
        unsigned at = (unsigned)wanted[i] * 2654435761u >> 18;
        int probe = 0;
        while (slots[at] != wanted[i] && slots[at] >= 0) {
            at = (at + 1) & 16383;
            probe++;
        }
        probes[i] = probe;
    }
}
