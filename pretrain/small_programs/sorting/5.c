#include <stdio.h>
#include <stdlib.h>

/* Tree sort: put every number into a search tree and walk it in order. */

struct node {
    int key;
    int times;
    struct node *less, *more;
};

struct node *new_node(int key)
{
    struct node *n = malloc(sizeof(struct node));
    n->key = key;
    n->times = 1;
    n->less = n->more = NULL;
    return n;
}

void insert(struct node **where, int key)
{
    while (*where != NULL) {
        if (key == (*where)->key) {
            (*where)->times++;
            return;
        }
        where = key < (*where)->key ? &(*where)->less : &(*where)->more;
    }
    *where = new_node(key);
}

void print_and_free(struct node *n)
{
    if (n == NULL)
        return;
    print_and_free(n->less);
    for (int i = 0; i < n->times; i++)
        printf("%d ", n->key);
    print_and_free(n->more);
    free(n);
}

int main(void)
{
    struct node *root = NULL;
    int total, key;

    scanf("%d", &total);
    while (total-- > 0) {
        scanf("%d", &key);
        insert(&root, key);
    }
    print_and_free(root);
    printf("\n");
    return 0;
}
