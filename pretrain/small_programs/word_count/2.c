/* all words in an array, sorted; runs of equal words are counted */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAXW 5000

char text[100000];
char *words[MAXW];
int nwords;

struct run {
  char *word;
  int len;
} runs[MAXW];
int nruns;

int cmpWords(const void *a, const void *b) { return strcmp(*(char **)a, *(char **)b); }

void cut(void) {
  char *p = text;
  while (*p) {
    while (*p && !isalpha((unsigned char)*p)) p++;
    if (!*p) break;
    words[nwords++] = p;
    while (isalpha((unsigned char)*p)) {
      *p = tolower((unsigned char)*p);
      p++;
    }
    if (*p) *p++ = 0;
  }
}

int main(void) {
  int i, j, n = fread(text, 1, sizeof text - 1, stdin);
  text[n] = 0;
  cut();
  qsort(words, nwords, sizeof *words, cmpWords);
  for (i = 0; i < nwords; i = j) {
    for (j = i; j < nwords && strcmp(words[i], words[j]) == 0; j++)
      ;
    runs[nruns].word = words[i];
    runs[nruns++].len = j - i;
  }
  /* selection: the first of the longest runs, five times */
  for (i = 0; i < 5; i++) {
    struct run *best = NULL;
    for (j = 0; j < nruns; j++)
      if (runs[j].len && (!best || runs[j].len > best->len)) best = &runs[j];
    if (!best) break;
    printf("%s %d\n", best->word, best->len);
    best->len = 0;
  }
  return 0;
}
