"""What LLVM itself estimates of loops with a profile, which `mirenc.llvm.analysis.trip_counts` must equal.

No pass of LLVM's prints it. So a small program asks the library (`llvm_trip_counts.cpp`), once, and its answers are
committed beside the modules in ``fixtures/profiles``:

    apt-get install clang-19 llvm-19-dev llvm-19
    python tests/llvm_trip_counts.py
"""

import functools
import json
import lzma
import random
import subprocess
import tempfile
from pathlib import Path

PROFILES = Path(__file__).parent / "fixtures" / "profiles"
COUNTS = PROFILES / "trip_counts.json"
Loop = tuple[str, str]
"""Function and header, as LLVM prints them."""

_GENERATED = 240  # functions
_LARGEST = 2**32 - 1
_NOTED = [*range(8), 9, 10, 99, 100, 101, 2**31 - 1, 2**31, _LARGEST - 1, _LARGEST]

# The latch of each: `{0}` and `{1}` are the ways of its branch in random order, `{prof}` its weights.
_SHAPES = {
    "end": """
  br label %h
h:
  %c = call i1 @more()
  br i1 %c, label %{0}, label %{1}{prof}
""",
    "head": """
  br label %h
h:
  %c = call i1 @more()
  br i1 %c, label %b, label %x{other}
b:
  br label %h
""",
    "head and end": """
  br label %h
h:
  %c = call i1 @more()
  br i1 %c, label %b, label %x{other}
b:
  %d = call i1 @more()
  br i1 %d, label %{0}, label %{1}{prof}
""",
    "two latches": """
  br label %h
h:
  %c = call i1 @more()
  br i1 %c, label %{0}, label %b{prof}
b:
  %d = call i1 @more()
  br i1 %d, label %h, label %x{other}
""",
    "nest": """
  br label %o
o:
  br label %h
h:
  %c = call i1 @more()
  br i1 %c, label %{0}, label %{1}{prof}
l:
  %d = call i1 @more()
  br i1 %d, label %o, label %x{other}
""",
    "shared latch": """
  br label %o
o:
  %c = call i1 @more()
  br i1 %c, label %h, label %x{other}
h:
  %d = call i1 @more()
  br i1 %d, label %{0}, label %{1}{prof}
""",
    "switch": """
  br label %h
h:
  %n = call i32 @number()
  switch i32 %n, label %h [ i32 0, label %x ]{prof}
""",
    "invoke": """
  br label %h
h:
  invoke void @work() to label %h unwind label %p{prof}
p:
  %caught = landingpad {{ ptr, i32 }} cleanup
  br label %x
""",
    "both ways back": """
  br label %h
h:
  %c = call i1 @more()
  br i1 %c, label %b, label %x{other}
b:
  %d = call i1 @more()
  br i1 %d, label %h, label %h{prof}
""",
    "latch does not leave": """
  br label %h
h:
  %c = call i1 @more()
  br i1 %c, label %b, label %x{other}
b:
  %d = call i1 @more()
  br i1 %d, label %h, label %k{prof}
k:
  br label %b
""",
}
_PROGRAM = """
static unsigned long seed = 1;
static unsigned next(unsigned below) { seed = seed * 6364136223846793005ul + 1; return (seed >> 33) % below; }
static int a[1000], b[1000];
int first(const int *x, int n, int what) { for (int i = 0; i < n; i++) if (x[i] == what) return i; return -1; }
int sum(const int *x, int n) { int s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
unsigned length(const char *text) { unsigned n = 0; while (text[n]) n++; return n; }
void sort(int *x, int n) {
  for (int i = 1; i < n; i++) {
    int v = x[i], j = i;
    while (j > 0 && x[j - 1] > v) { x[j] = x[j - 1]; j--; }
    x[j] = v;
  }
}
int gcd(int p, int q) { while (q) { int r = p % q; p = q; q = r; } return p; }
void product(const int *x, const int *y, int *z, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int s = 0;
      for (int k = 0; k < n; k++) s += x[i * n + k] * y[k * n + j];
      z[i * n + j] = s;
    }
}
int digits(unsigned n) { int d = 0; do { d++; n /= 10; } while (n); return d; }
int search(const int *x, int n, int what) {
  int low = 0, high = n;
  while (low < high) { int m = (low + high) / 2; if (x[m] < what) low = m + 1; else high = m; }
  return low;
}
int words(const char *t) {
  int n = 0;
  for (;;) {
    while (*t == ' ') t++;
    if (!*t) break;
    n++;
    do t++; while (*t && *t != ' ');
  }
  return n;
}
int never(int *x, int n) { int s = 0; if (n > 100000) for (int i = 0; i < n; i++) s += x[i]; return s; }
int odd(const int *x, int n) { int s = 0; for (int i = 0; i < n; i++) { if (x[i] & 1) continue; s ^= x[i]; } return s; }
unsigned collatz(unsigned n) { int k = 0; for (; n != 1 && k < 1000; k++) n = n % 2 ? 3 * n + 1 : n / 2; return k; }
int main(void) {
  volatile long all = 0;
  for (int turn = 0; turn < 40; turn++) {
    int n = 1 + next(turn < 30 ? 20 : 900);
    for (int i = 0; i < n; i++) a[i] = next(50), b[i] = next(9);
    all += sum(a, n) + first(a, n, 7) + odd(b, n) + never(a, n);
    sort(a, n);
    all += search(a, n, 25) + gcd(a[0] + 30, b[0] + 12) + digits(next(100000)) + collatz(1 + next(99));
    all += length("some words of no  weight") + words(turn & 1 ? "a few  words" : "");
    if (n >= 25) { product(a, b, a + 700, 5); all += a[700]; }
  }
  return all == 1;
}
"""
_BUILDS = {
    "front-end": ("-fprofile-instr-generate", "-fprofile-instr-use="),
    "ir": ("-fprofile-generate", "-fprofile-use="),
}
_LEVELS = ("-O0", "-O1", "-O2", "-Os")


def generated(seed: int = 22) -> str:
    """A module of `_GENERATED` functions with a loop or two each, whose weights are random, and odd in many ways."""
    chance = random.Random(seed)
    functions, nodes = [], []

    def weights(count: int = 2) -> str:
        drawn = chance.randrange(8)
        if drawn == 0:
            return ""
        pick = (
            (lambda: chance.choice(_NOTED)) if drawn < 4 else (lambda: chance.randrange(10 ** chance.randrange(1, 10)))
        )
        numbers = [pick() for _ in range(count)]
        if sorted(numbers) == [1, _LARGEST]:  # the one quotient that an LLVM before 22 lets overflow
            numbers[0] = 2
        numbers = [number + (chance.randrange(1, 9) << 32 if drawn == 7 else 0) for number in numbers]
        kind = "i64" if drawn == 7 else "i32"
        hint = '!"expected", ' if drawn == 6 else ""
        nodes.append(f'!{{!"branch_weights", {hint}{", ".join(f"{kind} {number}" for number in numbers)}}}')
        return f", !prof !{len(nodes) - 1}"

    for number in range(_GENERATED):
        name = chance.choice([*_SHAPES, "end", "end", "head and end", "nest", "shared latch"])
        turned = chance.randrange(2)
        back, out = ("h", {"shared latch": "o", "nest": "l"}.get(name, "x"))
        first, second = (out, back) if turned else (back, out)
        body = _SHAPES[name].format(first, second, prof=weights(), other=weights())
        handler = " personality ptr @person" if name == "invoke" else ""
        functions.append(f"; {name}\ndefine void @f{number}(){handler} {{\ne:{body}x:\n  ret void\n}}\n")
    declared = ["i1 @more()", "i32 @number()", "void @work()", "i32 @person(...)"]
    numbered = [f"!{number} = {node}" for number, node in enumerate(nodes)]
    return "\n".join([*(f"declare {one}" for one in declared), *functions, *numbered]) + "\n"


def profiled(folder: Path) -> dict[str, str]:
    """IR of the program above with clang's profile and with LLVM's, at several levels; names -> text."""
    (folder / "program.c").write_text(_PROGRAM, encoding="utf-8")
    texts = {}

    def run(*command: str) -> None:
        subprocess.run(command, cwd=folder, check=True, env={"LLVM_PROFILE_FILE": "raw", "PATH": "/usr/bin:/bin"})

    for kind, (write, read) in _BUILDS.items():
        for level in _LEVELS:
            run("clang-19", level, write, "program.c", "-o", "program")
            run("./program")
            run("llvm-profdata-19", "merge", "raw", "-o", "data")
            target = ("-target", "x86_64-pc-linux-gnu", "-fno-discard-value-names")
            target += ("-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize")
            run("clang-19", level, *target, f"{read}data", "-S", "-emit-llvm", "program.c", "-o", "program.ll")
            texts[f"{kind}{level}"] = (folder / "program.ll").read_text(encoding="utf-8")
    return texts


@functools.cache
def committed() -> dict[str, tuple[str, dict[Loop, int]]]:
    """Each committed module, and what LLVM 19 estimates of its loops; 0 where it does not."""
    counts_by_module = json.loads(COUNTS.read_text(encoding="utf-8"))
    texts = {name: lzma.decompress((PROFILES / f"{name}.ll.xz").read_bytes()).decode() for name in counts_by_module}
    return {
        name: (texts[name], {(one, header): count for one, header, count in counts_by_module[name]})
        for name in counts_by_module
    }


def main() -> None:
    """Make the modules and ask LLVM 19."""
    PROFILES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        texts = {"generated": generated(), **profiled(folder)}
        configured = subprocess.run(
            ["llvm-config-19", "--cxxflags", "--ldflags"], capture_output=True, text=True, check=True
        )
        source, program = Path(__file__).with_suffix(".cpp"), folder / "counts"
        flags = configured.stdout.split()
        subprocess.run(["clang++-19", "-O1", str(source), "-o", str(program), *flags, "-lLLVM-19"], check=True)
        counts = {}
        for name, text in texts.items():
            file = folder / f"{name}.ll"
            file.write_text(text, encoding="utf-8")
            printed = subprocess.run([str(program), str(file)], capture_output=True, text=True, check=True).stdout
            counts[name] = [[*line.split()[:2], int(line.split()[2])] for line in printed.splitlines()]
            (PROFILES / f"{name}.ll.xz").write_bytes(lzma.compress(text.encode(), preset=9))
    lines = [f'"{name}": {json.dumps(rows)}' for name, rows in counts.items()]
    COUNTS.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")
    every = [count for rows in counts.values() for _, _, count in rows]
    print(f"{len(every)} loops, of {sum(map(bool, every))} of which LLVM 19 estimates a trip count")


if __name__ == "__main__":
    main()
