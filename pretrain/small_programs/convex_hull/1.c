#include <stdio.h>
#include <stdlib.h>

/* Convex hull by the monotone chain: lower side, then upper side. Prints corners and twice the area. */

typedef struct {
    long x, y;
} Point;

static int compare_points(const void *a, const void *b)
{
    const Point *p = a;
    const Point *q = b;
    if (p->x != q->x)
        return p->x < q->x ? -1 : 1;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return 0;
}

static long cross(Point o, Point a, Point b)
{
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
}

int main(void)
{
    int count;
    scanf("%d", &count);
    Point *points = malloc((size_t)count * sizeof(Point));
    Point *hull = malloc((size_t)(2 * count + 1) * sizeof(Point));
    for (int i = 0; i < count; i++)
        scanf("%ld %ld", &points[i].x, &points[i].y);
    qsort(points, (size_t)count, sizeof(Point), compare_points);

    int size = 0;
    for (int i = 0; i < count; i++) {
        while (size >= 2 && cross(hull[size - 2], hull[size - 1], points[i]) <= 0)
            size--;
        hull[size++] = points[i];
    }
    int lower = size + 1;
    for (int i = count - 2; i >= 0; i--) {
        while (size >= lower && cross(hull[size - 2], hull[size - 1], points[i]) <= 0)
            size--;
        hull[size++] = points[i];
    }
    size--;

    long doubled = 0;
    for (int i = 0; i < size; i++) {
        Point p = hull[i], q = hull[(i + 1) % size];
        doubled += p.x * q.y - p.y * q.x;
    }
    printf("%d %ld\n", size, doubled);
    free(points);
    free(hull);
    return 0;
}
