// Loops whose branches are taken as often as their driver says: rate is how many of a hundred elements.
// FLOATS: float | float | double
// SIGNED: int8_t | int16_t | int | int64_t
// UNSIGNED: uint8_t | uint16_t | uint32_t | uint64_t
// INTEGERS: SIGNED | UNSIGNED
// ALL: INTEGERS | FLOATS | FLOATS
// REDUCED: int16_t | int | uint32_t | int64_t | uint8_t | float | double
// WIDENED: uint8_t/uint16_t | uint8_t/uint32_t | int8_t/int | int16_t/int | uint16_t/uint32_t | int/int64_t
// WIDENING: uint8_t/uint16_t | uint8_t/uint32_t | uint16_t/uint32_t | float/double | int16_t/float | int/double
// T: ALL
