#include <stdio.h>
#include <stdlib.h>

/* For each line: different characters, and bits of the line in a Huffman code. A binary heap of tree nodes. */

typedef struct Node {
    long weight;
    struct Node *zero, *one;
} Node;

static Node *heap[256];
static int heap_size;

static void push(Node *node)
{
    int at = heap_size++;
    while (at > 0 && heap[(at - 1) / 2]->weight > node->weight) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = node;
}

static Node *pop(void)
{
    Node *top = heap[0];
    Node *last = heap[--heap_size];
    int at = 0;
    for (int child = 1; child < heap_size; child = 2 * at + 1) {
        if (child + 1 < heap_size && heap[child + 1]->weight < heap[child]->weight)
            child++;
        if (last->weight <= heap[child]->weight)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return top;
}

static Node *make(long weight, Node *zero, Node *one)
{
    Node *node = malloc(sizeof *node);
    *node = (Node){weight, zero, one};
    return node;
}

static long bits(Node *node, int depth)
{
    long total = depth * node->weight;
    if (node->zero != NULL)
        total = bits(node->zero, depth + 1) + bits(node->one, depth + 1);
    free(node);
    return total;
}

int main(void)
{
    char line[1000];
    while (fgets(line, sizeof line, stdin)) {
        long count[256] = {0};
        for (char *p = line; *p != '\0' && *p != '\n'; p++)
            count[(unsigned char)*p]++;
        heap_size = 0;
        for (int c = 0; c < 256; c++)
            if (count[c] > 0)
                push(make(count[c], NULL, NULL));
        int different = heap_size;
        while (heap_size > 1) {
            Node *a = pop();
            Node *b = pop();
            push(make(a->weight + b->weight, a, b));
        }
        printf("%d %ld\n", different, bits(pop(), different == 1));
    }
    return 0;
}
