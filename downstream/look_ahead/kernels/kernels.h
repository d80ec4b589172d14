void matvec(const float *a, const float *x, float *y, int rows, int n);
void add_short(const int *a, const int *b, int *c, int rows, int n);
long count_bits(const unsigned *a, int n);
void blur(const unsigned char *in, unsigned char *out, int w, int h);
void jacobi(const double *a, double *b, int n);
