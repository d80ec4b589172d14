#include <algorithm>
#include <complex>
#include <cstdio>
#include <vector>

using namespace std;

// Gift wrapping on complex numbers: the imaginary part of conj(a) * b is the cross product.
typedef complex<double> P;

static double cross(P a, P b) { return imag(conj(a) * b); }

int main() {
    int n;
    if (scanf("%d", &n) != 1) return 1;
    vector<P> pts;
    for (int i = 0; i < n; i++) {
        double a, b;
        scanf("%lf %lf", &a, &b);
        pts.push_back(P(a, b));
    }
    P start = *min_element(pts.begin(), pts.end(), [](P a, P b) {
        return real(a) < real(b) || (real(a) == real(b) && imag(a) < imag(b));
    });
    P here = start;
    int corners = 0;
    double area = 0;
    do {
        P next = here;
        for (P p : pts) {
            if (p == here) continue;
            double side = cross(next - here, p - here);
            if (next == here || side < 0 || (side == 0 && norm(p - here) > norm(next - here))) next = p;
        }
        area += cross(here, next);
        here = next;
        corners++;
    } while (here != start);
    printf("%d %.0f\n", corners, area);
    return 0;
}
