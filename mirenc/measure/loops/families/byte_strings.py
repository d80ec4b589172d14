"""Loops over bytes of text."""

from __future__ import annotations

from mirenc.measure.loops.structure import structure

__all__ = ["BYTE_STRINGS"]

BYTES = (("uint8_t", "uint8_t"), ("char", "char"))

BYTE_STRINGS = (
    structure(
        "upper case",
        """
void (T *text, I n)
@for (I i = 0; i < n; i++)
    if (text[i] >= 'a' && text[i] <= 'z')
        text[i] -= 'a' - 'A';
""",
        types=BYTES,
        weight=3,
        text="n: text",
    ),
    structure(
        "count of a character",
        """
C (const T *text, I n)
C count = 0;
@for (I i = 0; i < n; i++)
    if (text[i] == ' ')
        count++;
return count;
""",
        types=BYTES,
        choices={"C": ("int", "size_t", "long")},
        weight=4,
        text="n: text",
    ),
    structure(
        "count of words",
        """
int (const T *text, I n)
int words = 0, inside = 0;
@for (I i = 0; i < n; i++) {
    int letter = text[i] != ' ' && text[i] != '.' && text[i] != ',';
    words += letter && !inside;
    inside = letter;
}
return words;
""",
        types=BYTES,
        weight=4,
        text="n: text",
    ),
    structure(
        "length of a string",
        """
I (const T *text)
I length = 0;
@while (text[length])
    length++;
return length;
""",
        types=BYTES,
        trip="",
        rows=False,
        constant=False,
        weight=1,
        text="n: text",
    ),
    structure(
        "strings compared",
        """
int (const T *a, const T *b, I n)
I i = 0;
@while (i < n && a[i] == b[i])
    i++;
return i == n ? 0 : a[i] < b[i] ? -1 : 1;
""",
        types=BYTES,
        trip="",
        rows=False,
        constant=False,
        weight=1,
        choices={"H": ("n / 2", "n")},
        a="n: only H",
        b="n: zero",
    ),
    structure(
        "digits to number",
        """
T (const uint8_t *digits, I n)
T value = 0;
@for (I i = 0; i < n; i++)
    value = value * 10 + (digits[i] - '0');
return value;
""",
        types=(("uint32_t", "uint32_t"), ("uint64_t", "uint64_t")),
        sizes="short",
        weight=3,
        digits="n: any",
    ),
    structure(
        "hexadecimal digits",
        """
void (char *out, const uint8_t *bytes, I n)
@for (I i = 0; i < n; i++) {
    out[2 * i] = digit(bytes[i] >> 4);
    out[2 * i + 1] = digit(bytes[i] & 15);
}
""",
        types=BYTES,
        prelude="""
static char digit(int value)
{
    return value < 10 ? '0' + value : 'a' + value - 10;
}
""",
        weight=4,
        out="2 * n",
        bytes="n: any",
    ),
    structure(
        "character classes",
        """
void (uint8_t *kind, const T *text, I n)
@for (I i = 0; i < n; i++) {
    T c = text[i];
    kind[i] = c == ' ' ? 0 : c >= '0' && c <= '9' ? 1 : (c | 32) >= 'a' && (c | 32) <= 'z' ? 2 : 3;
}
""",
        types=BYTES,
        weight=4,
        text="n: text",
    ),
    structure(
        "string hash",
        """
uint32_t (const uint8_t *text, I n)
uint32_t hash = 2166136261u;
@for (I i = 0; i < n; i++)
    hash = (hash ^ text[i]) * 16777619u;
return hash;
""",
        types=(("uint8_t", "uint8_t"),),
        weight=2,
        text="n: text",
    ),
    structure(
        "line ends replaced",
        """
int (T *text, int n)
int changed = 0;
@for (int i = 0; i < n; i++) {
    if (text[i] == ',') {
        text[i] = ';';
        changed++;
    }
}
return changed;
""",
        types=BYTES,
        weight=4,
        text="n: text",
    ),
    structure(
        "bytes reversed",
        """
void (T *out, const T *text, I n)
@for (I i = 0; i < n; i++)
    out[n - 1 - i] = text[i];
""",
        types=BYTES,
        weight=4,
        text="n: text",
    ),
    structure(
        "utf-8 length",
        """
T (const uint8_t *text, I n)
T characters = 0;
@for (I i = 0; i < n; i++)
    characters += (text[i] & 0xc0) != 0x80;
return characters;
""",
        types=(("uint64_t", "uint64_t"), ("int", "int"), ("uint16_t", "uint16_t")),
        weight=4,
        text="n: any",
    ),
    structure(
        "decoded with a key",
        """
void (T *text, const T *key, I n)
@for (I i = 0; i < n; i++)
    text[i] ^= key[i & K];
""",
        types=(("uint8_t", "uint8_t"), ("uint32_t", "uint32_t")),
        choices={"K": ("3", "7", "15")},
        weight=4,
        text="n: any",
        key="K + 1: any",
    ),
    structure(
        "bytes to 64",
        """
void (uint8_t *out, const uint8_t *bytes, I n)
@for (I i = 0; i < n; i++) {
    out[4 * i] = bytes[3 * i] >> 2;
    out[4 * i + 1] = (bytes[3 * i] & 3) << 4 | bytes[3 * i + 1] >> 4;
    out[4 * i + 2] = (bytes[3 * i + 1] & 15) << 2 | bytes[3 * i + 2] >> 6;
    out[4 * i + 3] = bytes[3 * i + 2] & 63;
}
""",
        types=(("uint8_t", "uint8_t"),),
        weight=4,
        out="4 * n",
        bytes="3 * n: any",
    ),
)
