#include <stdio.h>
#include <stdlib.h>

// A linked list in order of weight; two leave at the head, their sum is inserted where it belongs.

struct item {
	unsigned weight;
	struct item *next;
};

static struct item *insert(struct item *list, unsigned weight)
{
	if (list == NULL || weight <= list->weight) {
		struct item *head = malloc(sizeof *head);
		head->weight = weight;
		head->next = list;
		return head;
	}
	list->next = insert(list->next, weight);
	return list;
}

static struct item *drop(struct item *list, unsigned *weight)
{
	struct item *rest = list->next;
	*weight = list->weight;
	free(list);
	return rest;
}

int main(void)
{
	unsigned count[128] = {0}, bits = 0, kinds = 0;
	int c;

	while ((c = getchar()) != EOF) {
		if (c != '\n') {
			count[c & 127]++;
			continue;
		}
		struct item *list = NULL;
		bits = kinds = 0;
		for (int i = 0; i < 128; i++) {
			if (count[i] == 0)
				continue;
			list = insert(list, count[i]);
			kinds++;
			count[i] = 0;
		}
		if (kinds == 1)
			bits = list->weight;
		while (list->next != NULL) {
			unsigned a, b;
			list = drop(list, &a);
			list = drop(list, &b);
			list = insert(list, a + b);
			bits += a + b;
		}
		free(list);
		printf("%u %u\n", kinds, bits);
	}
	return 0;
}
