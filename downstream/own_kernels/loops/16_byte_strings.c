// Loops over bytes of text.
// BYTES: uint8_t | char
// T: BYTES
// weight: 4

// name: case turned
// text: n: text
void kernel(T *text, I n)
{
    @for (I i = 0; i < n; i++)
        if ((text[i] | 32) >= 'a' && (text[i] | 32) <= 'z')
            text[i] ^= 32;
}

// name: count of a character
// C: int | size_t | long
// text: n: text
C kernel(const T *text, I n)
{
    C count = 0;
    @for (I i = 0; i < n; i++)
        if (text[i] == ' ')
            count++;
    return count;
}

// name: count of words
// weight: 1
// text: n: text
int kernel(const T *text, I n)
{
    int words = 0, inside = 0;
    @for (I i = 0; i < n; i++) {
        int letter = text[i] != ' ' && text[i] != '.' && text[i] != ',';
        words += letter && !inside;
        inside = letter;
    }
    return words;
}

// name: length of a string
// trip: unknown
// rows: no
// constant: no
// weight: 1
// text: n: text
I kernel(const T *text)
{
    I length = 0;
    @while (text[length])
        length++;
    return length;
}

// name: strings compared
// trip: unknown
// rows: no
// constant: no
// weight: 1
// H: n / 2 | n
// a: n: only H
// b: n: zero
int kernel(const T *a, const T *b, I n)
{
    I i = 0;
    @while (i < n && a[i] == b[i])
        i++;
    return i == n ? 0 : a[i] < b[i] ? -1 : 1;
}

// name: digits to number
// T: uint32_t | uint64_t
// sizes: short
// weight: 1
// digits: n: any
T kernel(const uint8_t *digits, I n)
{
    T value = 0;
    @for (I i = 0; i < n; i++)
        value = value * 10 + (digits[i] - '0');
    return value;
}

// name: hexadecimal digits
// out: 2 * n
// bytes: n: any
static char digit(int value)
{
    return value < 10 ? '0' + value : 'a' + value - 10;
}

void kernel(char *out, const uint8_t *bytes, I n)
{
    @for (I i = 0; i < n; i++) {
        out[2 * i] = digit(bytes[i] >> 4);
        out[2 * i + 1] = digit(bytes[i] & 15);
    }
}

// name: character classes
// text: n: text
void kernel(uint8_t *kind, const T *text, I n)
{
    @for (I i = 0; i < n; i++) {
        T c = text[i];
        kind[i] = c == ' ' ? 0 : c >= '0' && c <= '9' ? 1 : (c | 32) >= 'a' && (c | 32) <= 'z' ? 2 : 3;
    }
}

// name: string hash
// T: uint8_t
// weight: 1
// text: n: text
uint32_t kernel(const uint8_t *text, I n)
{
    uint32_t hash = 2166136261u;
    @for (I i = 0; i < n; i++)
        hash = (hash ^ text[i]) * 16777619u;
    return hash;
}

// name: line ends replaced
// text: n: text
int kernel(T *out, const T *text, int n)
{
    int changed = 0;
    @for (int i = 0; i < n; i++) {
        if (text[i] == ',') {
            out[i] = ';';
            changed++;
        }
    }
    return changed;
}

// name: bytes reversed
// text: n: text
void kernel(T *out, const T *text, I n)
{
    @for (I i = 0; i < n; i++)
        out[n - 1 - i] = text[i];
}

// name: utf-8 length
// T: uint64_t | int | uint16_t
// text: n: any
T kernel(const uint8_t *text, I n)
{
    T characters = 0;
    @for (I i = 0; i < n; i++)
        characters += (text[i] & 0xc0) != 0x80;
    return characters;
}

// name: decoded with a key
// T: uint8_t | uint32_t
// K: 3 | 7 | 15
// text: n: any
// key: K + 1: any
void kernel(T *text, const T *key, I n)
{
    @for (I i = 0; i < n; i++)
        text[i] ^= key[i & K];
}

// name: bytes to 64
// T: uint8_t
// out: 4 * n
// bytes: 3 * n: any
void kernel(uint8_t *out, const uint8_t *bytes, I n)
{
    @for (I i = 0; i < n; i++) {
        out[4 * i] = bytes[3 * i] >> 2;
        out[4 * i + 1] = (bytes[3 * i] & 3) << 4 | bytes[3 * i + 1] >> 4;
        out[4 * i + 2] = (bytes[3 * i + 1] & 15) << 2 | bytes[3 * i + 2] >> 6;
        out[4 * i + 3] = bytes[3 * i + 2] & 63;
    }
}
