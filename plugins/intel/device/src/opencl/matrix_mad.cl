/* Products of matrices for devices that lack them: the functions of the OpenCL extensions
 * cl_intel_subgroup_matrix_multiply_accumulate and cl_intel_subgroup_matrix_multiply_accumulate_tf32, for sub-groups
 * of 8 and of 16 work items.
 *
 * C + A * B, where A has M rows of K, B K rows of N, and N is the size of the sub-group. As the extensions say:
 *
 *   A  a row lies over the work items, neighbours along K in neighbouring work items, each with 32 bits of it where
 *      there are 8 and with 16 bits where there are 16; component m of a vector is row m. Of tf32 numbers, of which
 *      a row has eight, component m has row 2 m in the first eight work items and row 2 m + 1 in the others.
 *   B  work item n has column n, the 32 bits of step s of K in component s.
 *   C  work item n has column n, row m in component m.
 *
 * Elements lie in words with the first along K in the low bits. The extensions leave the order of a sum open, and
 * how it is rounded: here one product is added after the other, each by a fused multiply-add of binary32.
 */

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable

#define STEPS 8

/* Element i of a word. */
static int element_i8(uint word, uint i) { return (char)(word >> 8 * i); }
static int element_u8(uint word, uint i) { return (uchar)(word >> 8 * i); }
static int element_i4(uint word, uint i) { return as_int(word << (28 - 4 * i)) >> 28; }
static int element_u4(uint word, uint i) { return (word >> 4 * i) & 15; }
static float element_f16(uint word, uint i) { return convert_float(as_half((ushort)(word >> 16 * i))); }
static float element_bf16(uint word, uint i) { return as_float(word >> 16 * i << 16); }
/* The 13 low bits are not looked at. */
static float element_tf32(uint word, uint i) { return as_float(word & 0xffffe000); }

/* Sums, and what a component of C is to them. Sums of integers wrap. */
static int added_int(int a, int b, int sum) { return as_int(as_uint(a) * as_uint(b) + as_uint(sum)); }
static float added_float(float a, float b, float sum) { return fma(a, b, sum); }
static int sum_of_int(int c) { return c; }
static int int_of_sum(int sum) { return sum; }
static float sum_of_float(float c) { return c; }
static float float_of_sum(float sum) { return sum; }
static float sum_of_half(half c) { return convert_float(c); }
static half half_of_sum(float sum) { return convert_half_rte(sum); }
/* bf16 numbers are passed as short; to nearest even, a NaN stays one. */
static float sum_of_short(short c) { return as_float((uint)as_ushort(c) << 16); }
static short short_of_sum(float sum)
{
    uint bits = as_uint(sum);
    uint rounded = bits + 0x7fff + (bits >> 16 & 1);
    return as_short((ushort)((isnan(sum) ? bits | 0x400000 : rounded) >> 16));
}

/* The word of row m of A at step s, from the components that each work item passes. */
#define WORD_INT(a, m, s) sub_group_shuffle(((const uint *)&a)[m], s)
#define WORD_SHORT(a, m, s) ( \
    (uint)sub_group_shuffle(((const ushort *)&a)[m], 2 * (s)) | \
    (uint)sub_group_shuffle(((const ushort *)&a)[m], 2 * (s) + 1) << 16)
#define WORD_TF32(a, m, s) sub_group_shuffle(((const uint *)&a)[(m) / 2], (m) % 2 * 8 + (s))

/* One function: its name, the types of its elements and how many there are in a word, the type of sums, of a
 * component of C, how words of A are had, the types of the arguments, and M. */
#define MAD(NAME, TA, TB, PER_WORD, SUM, COMPONENT, WORD, A, B, C, M)                           \
    C __attribute__((overloadable, noinline)) NAME(A a, B b, C c)                               \
    {                                                                                           \
        C result = c;                                                                           \
        _Pragma("unroll 1")                                                                     \
        for (uint m = 0; m < M; ++m) {                                                          \
            SUM sum = sum_of_##COMPONENT(((const COMPONENT *)&c)[m]);                           \
            _Pragma("unroll 1")                                                                 \
            for (uint s = 0; s < STEPS; ++s) {                                                  \
                uint of_a = WORD(a, m, s), of_b = ((const uint *)&b)[s];                        \
                _Pragma("unroll 1")                                                             \
                for (uint i = 0; i < PER_WORD; ++i)                                             \
                    sum = added_##SUM(element_##TA(of_a, i), element_##TB(of_b, i), sum);       \
            }                                                                                   \
            ((COMPONENT *)&result)[m] = COMPONENT##_of_sum(sum);                                \
        }                                                                                       \
        return result;                                                                          \
    }

/* For M of 1, 2, 4 and 8. */
#define MADS(NAME, TA, TB, PER_WORD, SUM, COMPONENT, WORD, A, B)                                \
    MAD(NAME, TA, TB, PER_WORD, SUM, COMPONENT, WORD, A, B, COMPONENT, 1)                       \
    MAD(NAME, TA, TB, PER_WORD, SUM, COMPONENT, WORD, A##2, B, COMPONENT##2, 2)                 \
    MAD(NAME, TA, TB, PER_WORD, SUM, COMPONENT, WORD, A##4, B, COMPONENT##4, 4)                 \
    MAD(NAME, TA, TB, PER_WORD, SUM, COMPONENT, WORD, A##8, B, COMPONENT##8, 8)

/* For both sizes of sub-groups: A passes words of 32 bits, or of 16. */
#define INTEGERS(NAME, TA, TB, PER_WORD, A, A16, B)                                             \
    MADS(NAME, TA, TB, PER_WORD, int, int, WORD_INT, A, B)                                      \
    MADS(NAME, TA, TB, PER_WORD, int, int, WORD_SHORT, A16, B)

/* Sums of binary32, and where there are 16 work items of the factors' own type, of which components are OWN. */
#define FLOATS(NAME, T, OWN)                                                                    \
    MADS(NAME, T, T, 2, float, float, WORD_INT, int, int8)                                      \
    MADS(NAME, T, T, 2, float, float, WORD_SHORT, short, int8)                                  \
    MADS(NAME, T, T, 2, float, OWN, WORD_SHORT, short, int8)

/* Two rows share a component of A, but where there is one row. */
#define TF32(NAME)                                                                              \
    MAD(NAME, tf32, tf32, 1, float, float, WORD_TF32, float, float8, float, 1)                  \
    MAD(NAME, tf32, tf32, 1, float, float, WORD_TF32, float, float8, float2, 2)                 \
    MAD(NAME, tf32, tf32, 1, float, float, WORD_TF32, float2, float8, float4, 4)                \
    MAD(NAME, tf32, tf32, 1, float, float, WORD_TF32, float4, float8, float8, 8)

/* Uses of these that define functions are written where these are needed: finishing all takes longer than what calls
 * them. */
