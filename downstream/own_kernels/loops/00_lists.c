// Lists that the headers of all loops may name. A type of elements is T, or T/U where there are two.
// Where nothing is said, T is what the list of this name says.
//
// The files are read in the order of their numbers, which is that of the draws. REDUCED is for sums and extremes: a
// compiler keeps the order of floating ones, so that few settings change anything. In WIDENING, U holds more than T;
// WIDENED are those for sums, and WIDENING_DEFINED those whose U never overflows as a signed number. In NARROWING, U
// holds less.
// FLOATS: float | float | double
// SIGNED: int8_t | int16_t | int | int64_t
// UNSIGNED: uint8_t | uint16_t | uint32_t | uint64_t
// NARROW: uint8_t | int8_t | uint16_t | int16_t
// INTEGERS: SIGNED | UNSIGNED
// ALL: INTEGERS | FLOATS | FLOATS
// REDUCED: INTEGERS | INTEGERS | float | double
// WIDENING: uint8_t/uint16_t | uint8_t/uint32_t | int8_t/int | uint8_t/uint64_t | int16_t/int | uint16_t/uint32_t |
//     int16_t/int64_t | int/int64_t | uint32_t/uint64_t | float/double | uint8_t/float | int16_t/float | int/double |
//     int16_t/double | uint8_t/double
// WIDENED: uint8_t/uint16_t | uint8_t/uint32_t | int8_t/int | uint8_t/uint64_t | int16_t/int | uint16_t/uint32_t |
//     int16_t/int64_t | int/int64_t | uint32_t/uint64_t | float/double
// NARROWING: uint16_t/uint8_t | int/int8_t | uint32_t/uint8_t | int/int16_t | int64_t/int | uint64_t/uint8_t |
//     int64_t/int16_t | double/float | float/uint8_t | float/int16_t | double/int | double/int16_t
// WIDENING_DEFINED: uint8_t/uint16_t | uint8_t/uint32_t | uint8_t/uint64_t | uint16_t/uint32_t | uint32_t/uint64_t |
//     float/double | uint8_t/float | int16_t/float | int/double | int16_t/double | uint8_t/double
// T: ALL
