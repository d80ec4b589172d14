#include <stdio.h>

/* Quickhull: the farthest point from a line is a corner; recursion on both sides. */

typedef struct { int x, y; } Spot;

static int corners;
static long twice_area;

static long height(Spot a, Spot b, Spot p)
{
    return (long)(p.x - a.x) * (b.y - a.y) - (long)(p.y - a.y) * (b.x - a.x);
}

/* Handles the spots right of a -> b; the corner a was counted already. */
static void side(const Spot *spots, int n, Spot a, Spot b)
{
    Spot right[300];
    Spot peak = a;
    long top = 0;
    int m = 0;

    for (int i = 0; i < n; i++) {
        long h = height(a, b, spots[i]);
        if (h <= 0)
            continue;
        right[m++] = spots[i];
        if (h > top || (h == top && height(a, peak, spots[i]) > 0)) {
            top = h;
            peak = spots[i];
        }
    }
    if (m == 0) {
        twice_area += (long)a.x * b.y - (long)a.y * b.x;
        return;
    }
    side(right, m, a, peak);
    corners++;
    side(right, m, peak, b);
}

int main(void)
{
    Spot spots[300];
    int n, west = 0, east = 0;

    scanf("%d", &n);
    for (int i = 0; i < n; i++) {
        Spot s;
        scanf("%d %d", &s.x, &s.y);
        spots[i] = s;
        if (s.x < spots[west].x || (s.x == spots[west].x && s.y < spots[west].y))
            west = i;
        if (s.x > spots[east].x || (s.x == spots[east].x && s.y > spots[east].y))
            east = i;
    }
    corners = 2;
    side(spots, n, spots[west], spots[east]);
    side(spots, n, spots[east], spots[west]);
    printf("%d %ld\n", corners, twice_area);
    return 0;
}
