"""As many small programs as a test wants, each as two optimisation levels might leave it."""

from __future__ import annotations

OPERATIONS = ("add", "sub", "mul", "and", "or", "xor")


def program(number: int, *, optimised: bool) -> str:
    """One of many programs; at -O0 its argument goes through memory."""
    lines = [f"  %v{at + 1} = {OPERATIONS[(number >> at) % 6]} i32 %v{at}, {number + at}" for at in range(5)]
    head = ["  %v0 = add i32 %x, 0"]
    if not optimised:
        head = ["  %p = alloca i32", "  store i32 %x, ptr %p", "  %v0 = load i32, ptr %p"]
    body = "\n".join([*head, *lines, "  ret i32 %v5"])
    return f"define i32 @f{number % 4}(i32 %x) {{\n{body}\n}}\n"


SUM = b"""\
target triple = "x86_64-pc-linux-gnu"
define i32 @sum(i32 %first, i32 %second) {
  %slot = alloca i32
  store i32 %first, ptr %slot
  %again = load i32, ptr %slot
  %sum = add i32 %again, %second
  ret i32 %sum
}
"""

# Three parallel loops of two functions, which begin in lines 3, 11 and 14.
PARALLEL_LOOPS = """\
void scale(long n, const double *b, double *a)
{
#pragma omp parallel for
    for (long i = 0; i < n; i++)
        a[i] = 2 * b[i];
}

double both(long n, const double *b, double *a)
{
    double all = 0;
#pragma omp parallel for reduction(+ : all)
    for (long i = 0; i < n; i++)
        all += b[i];
#pragma omp parallel for \\
    schedule(dynamic, 4)
    for (long i = 0; i < n; i++)
        a[i] = all;
#pragma omp parallel
    a[0] = 1;
    return all;
}
"""
