/* Loads of blocks for devices that lack them: the reads of the OpenCL extension cl_intel_subgroup_2d_block_io, for
 * sub-groups of 16 work items. What is outside of the matrix is zero.
 *
 *   READ        a row lies over the work items, as many neighbours in each as make up 16 bits; a row of eight elements
 *               over half of them, the next over the others. Components are rows, then blocks side by side.
 *   TRANSFORM   a column in each work item, as many neighbours along it in a component as make up 32 bits; then blocks.
 *   TRANSPOSE   a row in each work item, an element in a component.
 */

/* An element of so many bytes; rows of width bytes, of which each begins pitch bytes after the one before. */
static uint block_element(const global void *base, int width, int height, int pitch, int column, int row, int bytes)
{
    uint element = 0;
    if (row < 0 || row >= height || column < 0 || (column + 1) * bytes > width)
        return 0;
    for (int byte = 0; byte < bytes; ++byte)
        element |= (uint)((const global uchar *)base)[(size_t)row * pitch + column * bytes + byte] << 8 * byte;
    return element;
}

#define ELEMENT(COLUMN, ROW, BITS) \
    block_element(base, width, height, pitch, begin.x + (COLUMN), begin.y + (ROW), (BITS) / 8)

#define READ(NAME, T, BITS, ROWS, COLUMNS, COUNT)                                                                   \
    void __attribute__((overloadable, noinline)) NAME(global void *base, int width, int height, int pitch,          \
                                                      int2 begin, private T *to)                                    \
    {                                                                                                               \
        const int near = BITS < 16 ? 16 / BITS : 1, along = COLUMNS / near, below = 16 / along;                     \
        const int lane = get_sub_group_local_id();                                                                  \
        for (int block = 0; block < COUNT; ++block)                                                                 \
            for (int row = 0; row < ROWS / below; ++row) {                                                          \
                uint all = 0;                                                                                       \
                for (int i = 0; i < near; ++i)                                                                      \
                    all |= ELEMENT(block * COLUMNS + lane % along * near + i, row * below + lane / along, BITS)     \
                           << BITS * i;                                                                             \
                *to++ = (T)all;                                                                                     \
            }                                                                                                       \
    }

#define TRANSFORM(NAME, T, BITS, ROWS, COLUMNS, COUNT)                                                              \
    void __attribute__((overloadable, noinline)) NAME(global void *base, int width, int height, int pitch,          \
                                                      int2 begin, private T *to)                                    \
    {                                                                                                               \
        const int near = 32 / BITS, lane = get_sub_group_local_id();                                                \
        for (int block = 0; block < COUNT; ++block)                                                                 \
            for (int row = 0; row < ROWS; row += near) {                                                            \
                uint all = 0;                                                                                       \
                for (int i = 0; i < near; ++i)                                                                      \
                    all |= ELEMENT(block * COLUMNS + lane, row + i, BITS) << BITS * i;                              \
                *to++ = all;                                                                                        \
            }                                                                                                       \
    }

#define TRANSPOSE(NAME, T, BITS, ROWS, COLUMNS, COUNT)                                                              \
    void __attribute__((overloadable, noinline)) NAME(global void *base, int width, int height, int pitch,          \
                                                      int2 begin, private T *to)                                    \
    {                                                                                                               \
        for (int column = 0; column < COLUMNS; ++column)                                                            \
            *to++ = ELEMENT(column, (int)get_sub_group_local_id(), BITS);                                           \
    }

