#include <stdio.h>
#include <stdlib.h>

/* n people in a ring, every k-th leaves: prints the order in which they leave. A circular linked list. */

struct person {
    int number;
    struct person *next;
};

static struct person *make_ring(int size)
{
    struct person *last = NULL, *first = NULL;
    for (int number = size; number >= 1; number--) {
        struct person *p = malloc(sizeof *p);
        p->number = number;
        p->next = first;
        first = p;
        if (last == NULL)
            last = p;
    }
    last->next = first;
    return last;
}

int main(void)
{
    int size, step;
    while (scanf("%d %d", &size, &step) == 2) {
        struct person *before = make_ring(size);
        while (before->next != before) {
            for (int i = 1; i < step; i++)
                before = before->next;
            struct person *leaving = before->next;
            before->next = leaving->next;
            printf("%d ", leaving->number);
            free(leaving);
        }
        printf("%d\n", before->number);
        free(before);
    }
    return 0;
}
