#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A trie: one node a letter. The best five are kept by insertion while the trie is walked in order.

struct trie {
	struct trie *child[26];
	unsigned count;
};

struct ranked {
	char word[40];
	unsigned count;
};

static struct ranked best[6];

static int letter(int c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	return -1;
}

static void rank(const char *word, unsigned count)
{
	int at = 5;

	while (at > 0 && best[at - 1].count < count) {
		best[at] = best[at - 1];
		at--;
	}
	if (at < 5) {
		strcpy(best[at].word, word);
		best[at].count = count;
	}
}

static void walk(const struct trie *node, char *prefix, size_t depth)
{
	prefix[depth] = '\0';
	if (node->count > 0)
		rank(prefix, node->count);
	for (int i = 0; i < 26; i++) {
		if (node->child[i]) {
			prefix[depth] = (char)('a' + i);
			walk(node->child[i], prefix, depth + 1);
		}
	}
}

int main(void)
{
	struct trie *root = calloc(1, sizeof *root), *at = root;
	char prefix[40];
	int c;

	while ((c = getchar()) != EOF) {
		int i = letter(c);
		if (i >= 0) {
			if (!at->child[i])
				at->child[i] = calloc(1, sizeof *at);
			at = at->child[i];
		} else if (at != root) {
			at->count++;
			at = root;
		}
	}
	if (at != root)
		at->count++;
	walk(root, prefix, 0);
	for (int i = 0; i < 5 && best[i].count > 0; i++)
		printf("%s %u\n", best[i].word, best[i].count);
	return 0;
}
