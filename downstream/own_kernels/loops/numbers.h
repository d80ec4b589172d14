/* Numbers of our own for drivers: rand() differs between C libraries. SEED is drawn. */
static uint32_t state = SEEDu;

static uint32_t next(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state >> 3;
}
