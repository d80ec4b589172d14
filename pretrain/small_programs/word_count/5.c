#include <stdio.h>
#include <string.h>

/* Open addressing: words lie in one pool of characters, the table holds offsets. */

enum { SLOTS = 4096, POOL = 65536 };

static char pool[POOL];
static unsigned used = 1; /* offset 0 means an empty slot */
static struct { unsigned offset, count; } slots[SLOTS];

static unsigned find(const char *word) {
  unsigned h = 2166136261u;
  for (const char *p = word; *p; ++p) h = (h ^ (unsigned char)*p) * 16777619u;
  unsigned i = h % SLOTS;
  while (slots[i].offset && strcmp(pool + slots[i].offset, word) != 0) i = (i + 1) % SLOTS;
  return i;
}

static void tally(const char *word) {
  unsigned i = find(word);
  if (!slots[i].offset) {
    slots[i].offset = used;
    strcpy(pool + used, word);
    used += (unsigned)strlen(word) + 1;
  }
  slots[i].count++;
}

static int ahead(unsigned a, unsigned b) {
  if (slots[a].count != slots[b].count) return slots[a].count > slots[b].count;
  return strcmp(pool + slots[a].offset, pool + slots[b].offset) < 0;
}

int main(void) {
  char word[64];
  unsigned top[5], n = 0;
  int len = 0;
  for (int c = getchar();; c = getchar()) {
    int lower = c | 32;
    if (c != EOF && lower >= 'a' && lower <= 'z') {
      word[len++] = (char)lower;
      continue;
    }
    word[len] = 0;
    if (len) tally(word);
    len = 0;
    if (c == EOF) break;
  }
  for (unsigned i = 0; i < SLOTS; i++) {
    if (!slots[i].offset) continue;
    unsigned at = n < 5 ? n++ : ahead(i, top[4]) ? 4 : 5;
    if (at == 5) continue;
    for (; at > 0 && ahead(i, top[at - 1]); at--) top[at] = top[at - 1];
    top[at] = i;
  }
  for (unsigned i = 0; i < n; i++) printf("%s %u\n", pool + slots[top[i]].offset, slots[top[i]].count);
  return 0;
}
