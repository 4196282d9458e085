/*
 * Tilewright for compilers that are written in C: layouts, plans of data movement, and code for GPUs.
 *
 * Generated from the crate `tilewright-c`; docs/embedding.md shows its use.
 *
 * A function that can fail returns an error, or null on success; it writes its result to `out` only on success. The receiver
 * of a handle frees it by the function that ends in `_destroy`. Handles are immutable and may be used from several threads at
 * once. Texts end with a zero byte and are UTF-8. An output struct begins with `struct_size`, which the caller sets; fields are
 * only ever appended.
 */

#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

/**
 * The major version of this interface: functions and fields are never removed or changed within one.
 */
#define TW_ABI_MAJOR 1

/**
 * The minor version of this interface: it counts additions. A host that was built for a lower minor version works.
 */
#define TW_ABI_MINOR 3

/**
 * Severity of a diagnostic: a failure.
 */
#define TW_SEVERITY_ERROR 1

/**
 * Severity of a diagnostic: a suspicious condition.
 */
#define TW_SEVERITY_WARNING 2

/**
 * Severity of a diagnostic: useful information.
 */
#define TW_SEVERITY_INFO 3

/**
 * Severity of a diagnostic: details for debugging.
 */
#define TW_SEVERITY_DEBUG 4

/**
 * The caller violated a rule of this interface: a null pointer, an index past the end, text that is not UTF-8.
 */
#define TW_ERROR_ARGUMENT 1

/**
 * An option of a call is unknown, or its value is invalid.
 */
#define TW_ERROR_OPTION 2

/**
 * A layout, program or request is invalid; if it is text, the error has the place in the text.
 */
#define TW_ERROR_INPUT 3

/**
 * No target has this name.
 */
#define TW_ERROR_TARGET 4

/**
 * A plugin is missing, cannot be loaded, or failed.
 */
#define TW_ERROR_PLUGIN 5

/**
 * The input is valid, but the target does not support it.
 */
#define TW_ERROR_UNSUPPORTED 6

/**
 * The target's code generator failed.
 */
#define TW_ERROR_COMPILE 7

/**
 * Tilewright itself has a defect; please report it.
 */
#define TW_ERROR_INTERNAL 8

/**
 * The emulator stopped the kernel: an illegal operation, or more operations than the limit.
 */
#define TW_ERROR_FAULT 9

/**
 * The dims that a layout maps from: register, lane, warp and block; for a memory layout offset and block.
 */
#define TW_SIDE_IN 0

/**
 * The dims that a layout maps to: the axes of a tensor.
 */
#define TW_SIDE_OUT 1

/**
 * The argument is the address of byte `value` of the buffer with the index `buffer`.
 */
#define TW_ARGUMENT_BUFFER 1

/**
 * The argument is a scalar of `width` bits, by its bits in `value`.
 */
#define TW_ARGUMENT_SCALAR 2

/**
 * Bytes or text that a call returned.
 */
typedef struct tw_blob tw_blob;

/**
 * The compiled code of a program or plan, in the requested forms.
 */
typedef struct tw_code tw_code;

/**
 * The error of a failed call: its code, message and place in the text.
 */
typedef struct tw_error tw_error;

/**
 * A layout of a tensor: a linear map over F2; a memory layout may add padding.
 */
typedef struct tw_layout tw_layout;

/**
 * A list of names in a deterministic order.
 */
typedef struct tw_names tw_names;

/**
 * The plan of a layout conversion for one target.
 */
typedef struct tw_plan tw_plan;

/**
 * A session: targets, and plugins that are opened on demand.
 */
typedef struct tw_session tw_session;

/**
 * An option of a call, as a key and a value.
 */
typedef struct tw_option {
    /**
     * The name of the option.
     */
    const char *key;
    /**
     * The value of the option as text.
     */
    const char *value;
} tw_option;

/**
 * Launch metadata of a kernel.
 */
typedef struct tw_kernel {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * The name of the kernel; lives as long as the code.
     */
    const char *name;
    /**
     * Number of lanes of a warp that the kernel was compiled for.
     */
    uint32_t lanes;
    /**
     * Number of warps of a block.
     */
    uint32_t warps;
    /**
     * Number of blocks of a cluster; 1 if the kernel was compiled without clusters.
     */
    uint32_t blocks;
    /**
     * Number of parameters of the kernel; 0 if unknown.
     */
    uint32_t parameters;
    /**
     * Static shared memory of a block, in bytes.
     */
    uint64_t shared_bytes;
} tw_kernel;

/**
 * An input or output dim of a layout, with its name and size.
 */
typedef struct tw_dim {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * The name of the dim: "register", "lane", "warp", "block", "offset", "row", "col", "dim0", "dim1", ... Lives as
     * long as the layout.
     */
    const char *name;
    /**
     * Number of positions along the dim, a power of two.
     */
    uint64_t size;
} tw_dim;

/**
 * The operation counts and the costs of a plan. Counts are of one warp, the maximum over the warps of a block.
 */
typedef struct tw_plan_stats {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * The kind of conversion: "none", "register", "shuffle", "shared", ... Lives as long as the plan.
     */
    const char *path;
    /**
     * Number of shuffles between lanes.
     */
    uint64_t shuffles;
    /**
     * Number of shared-memory wavefronts of stores.
     */
    uint64_t wavefronts_stored;
    /**
     * Number of shared-memory wavefronts of loads.
     */
    uint64_t wavefronts_loaded;
    /**
     * Number of block barriers.
     */
    uint64_t barriers;
    /**
     * Number of warp barriers.
     */
    uint64_t warp_barriers;
    /**
     * Shared memory that the plan takes in a block, in bytes.
     */
    uint64_t shared_bytes;
    /**
     * Price of the plan in shared-memory wavefronts of a warp, for comparisons with other compilers. Plans are ordered
     * by `cycles`, not by this price.
     */
    double price;
    /**
     * Cycles of a block by the target's table of costs.
     */
    double cycles;
    /**
     * Lower bound of the shuffles, over all plans of this kind.
     */
    uint64_t least_shuffles;
    /**
     * Lower bound of the store wavefronts, over all plans of this kind.
     */
    uint64_t least_wavefronts_stored;
    /**
     * Lower bound of the load wavefronts, over all plans of this kind.
     */
    uint64_t least_wavefronts_loaded;
} tw_plan_stats;

/**
 * The counts of [`tw_plan_stats`] under the names of interface 1.0, field by field.
 */
typedef struct tw_figures {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * The kind of conversion, as in `tw_plan_stats`.
     */
    const char *path;
    /**
     * Number of shuffles between lanes: `shuffles` of `tw_plan_stats`.
     */
    uint64_t exchanges;
    /**
     * Number of shared-memory wavefronts of stores, as in `tw_plan_stats`.
     */
    uint64_t wavefronts_stored;
    /**
     * Number of shared-memory wavefronts of loads, as in `tw_plan_stats`.
     */
    uint64_t wavefronts_loaded;
    /**
     * Number of block barriers, as in `tw_plan_stats`.
     */
    uint64_t barriers;
    /**
     * Number of warp barriers, as in `tw_plan_stats`.
     */
    uint64_t warp_barriers;
    /**
     * Shared memory that the plan takes in a block, in bytes, as in `tw_plan_stats`.
     */
    uint64_t shared_bytes;
    /**
     * The price in shared-memory wavefronts of a warp: `price` of `tw_plan_stats`.
     */
    double slots;
    /**
     * Cycles of a block, as in `tw_plan_stats`.
     */
    double cycles;
    /**
     * Lower bound of the shuffles: `least_shuffles` of `tw_plan_stats`.
     */
    uint64_t least_exchanges;
    /**
     * Lower bound of the store wavefronts, as in `tw_plan_stats`.
     */
    uint64_t least_wavefronts_stored;
    /**
     * Lower bound of the load wavefronts, as in `tw_plan_stats`.
     */
    uint64_t least_wavefronts_loaded;
} tw_figures;

/**
 * An argument of the function that a program launches.
 */
typedef struct tw_argument {
    /**
     * `TW_ARGUMENT_BUFFER` or `TW_ARGUMENT_SCALAR`.
     */
    uint32_t kind;
    /**
     * Width of a scalar in bits.
     */
    uint32_t width;
    /**
     * Index of the buffer in the launch.
     */
    size_t buffer;
    /**
     * The bits of a scalar, zero-extended; the byte offset in a buffer.
     */
    uint64_t value;
} tw_argument;

/**
 * A buffer of the host, which a run reads and changes.
 */
typedef struct tw_buffer {
    /**
     * The bytes of the buffer.
     */
    uint8_t *data;
    /**
     * Number of bytes.
     */
    size_t size;
} tw_buffer;

/**
 * The parameters of a run.
 */
typedef struct tw_launch {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * Number of programs along the three axes of the grid.
     */
    uint32_t grid[3];
    /**
     * One argument for each argument of the program's function.
     */
    const struct tw_argument *arguments;
    /**
     * Number of arguments.
     */
    size_t argument_count;
    /**
     * The buffers that the arguments refer to.
     */
    const struct tw_buffer *buffers;
    /**
     * Number of buffers.
     */
    size_t buffer_count;
    /**
     * Max number of operations that all warps execute, against endless loops; 0 for 10^8.
     */
    uint64_t max_steps;
} tw_launch;

/**
 * Counts of a run.
 */
typedef struct tw_run_report {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * Number of operations that all warps executed.
     */
    uint64_t steps;
    /**
     * Number of sectors of global memory that all warps loaded.
     */
    uint64_t sectors_loaded;
    /**
     * Number of sectors of global memory that all warps stored.
     */
    uint64_t sectors_stored;
    /**
     * Wavefronts of shared memory that a warp loaded, of the warp with the most.
     */
    uint64_t wavefronts_loaded;
    /**
     * Wavefronts of shared memory that a warp stored, of the warp with the most.
     */
    uint64_t wavefronts_stored;
} tw_run_report;

/**
 * A diagnostic message.
 */
typedef struct tw_diagnostic {
    /**
     * The size of this struct; fields beyond it are absent.
     */
    size_t struct_size;
    /**
     * The severity, one of `TW_SEVERITY_...`; treat unknown numbers like the last.
     */
    uint32_t severity;
    /**
     * The text of the message; lives as long as the call.
     */
    const char *message;
} tw_diagnostic;

/**
 * A function that receives diagnostics. It is called on the calling thread before the call returns; it must return,
 * and may not call into the `tw_session` that it serves.
 */
typedef void (*tw_diagnostic_callback)(void *context, const struct tw_diagnostic *diagnostic);

/**
 * Properties of a target that a host needs to build layouts for it.
 */
typedef struct tw_target {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * Default number of lanes of a warp.
     */
    uint32_t lanes;
    /**
     * 1 if a plugin serves the target, so that code can be generated for it; else 0.
     */
    uint32_t served;
    /**
     * Shared memory of a block, in bytes.
     */
    uint64_t shared_bytes;
} tw_target;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Returns the version of the linked library's interface: the major version times 65536, plus the minor version.
 * Available since 1.0.
 */
uint32_t tw_abi_version(void);

/**
 * Returns the version of Tilewright, such as "0.1.0"; lives as long as the process. Available since 1.0.
 */
const char *tw_version(void);

/**
 * Returns the bytes of a blob, followed by a zero byte so that text can be read as a C string. Null for null.
 * Available since 1.0.
 */
const char *tw_blob_data(const struct tw_blob *blob);

/**
 * Returns the number of bytes of a blob, without the zero byte after them. Zero for null. Available since 1.0.
 */
size_t tw_blob_size(const struct tw_blob *blob);

/**
 * Frees a blob and its bytes. Available since 1.0.
 */
void tw_blob_destroy(struct tw_blob *blob);

/**
 * Compiles a tile program, `length` bytes of Triton IR. Option keys: `emit` (forms separated by commas: `layouts`,
 * `plan`, `kernel`, `llvm`, `asm`, `object`, `functions`; default `asm`), `entry` (the function to launch; optional if
 * there is only one), `warps` of a block and `lanes` of a warp (unless the program states them), `strategy`
 * (`least-cost` or `propagation`), `stages` (of software-pipelined loops, 1 to 64), `optimisation` (0 to 3), `disable`
 * (optimizations separated by commas, as `tilewright optimizations` lists them). Available since 1.0.
 */
struct tw_error *tw_compile(const struct tw_session *session,
                            const char *target,
                            const char *program,
                            size_t length,
                            const struct tw_option *options,
                            size_t count,
                            struct tw_code **out);

/**
 * Compiles a plan's kernel. Options are those of `tw_compile`; `entry`, `warps`, `lanes` and `strategy` have no
 * effect. Available since 1.0.
 */
struct tw_error *tw_compile_plan(const struct tw_session *session,
                                 const struct tw_plan *plan,
                                 const struct tw_option *options,
                                 size_t count,
                                 struct tw_code **out);

/**
 * Returns the name of the form of code at `index`, in emission order; null past the last. Available since 1.0.
 */
const char *tw_code_form_name(const struct tw_code *code,
                              size_t index);

/**
 * Returns the bytes of a form of code, which live as long as the code and are followed by a zero byte. `size` and
 * `format` may be null; `format` receives the usual file extension (`ptx`, `s`, `hsaco`, `spv`, ...). Available since
 * 1.0.
 */
struct tw_error *tw_code_bytes(const struct tw_code *code,
                               const char *form,
                               const char **data,
                               size_t *size,
                               const char **format);

/**
 * Returns the number of kernels in the code. Zero for null. Available since 1.0.
 */
size_t tw_code_kernel_count(const struct tw_code *code);

/**
 * Returns launch metadata of the kernel at `index`. Available since 1.0.
 */
struct tw_error *tw_code_kernel(const struct tw_code *code, size_t index, struct tw_kernel *out);

/**
 * Frees compiled code. Available since 1.0.
 */
void tw_code_destroy(struct tw_code *code);

/**
 * Returns the kind of error, one of `TW_ERROR_...`; treat unknown numbers like `TW_ERROR_INTERNAL`. Zero for null.
 * Available since 1.0.
 */
uint32_t tw_error_code(const struct tw_error *error);

/**
 * Returns the description of the error and its remedy; lives as long as the error. Empty for null. Available since
 * 1.0.
 */
const char *tw_error_message(const struct tw_error *error);

/**
 * Returns the line of the error in the text, counted from one; zero if the error has no place. Available since 1.0.
 */
uint32_t tw_error_line(const struct tw_error *error);

/**
 * Returns the column (character in the line) of the error, counted from one; zero if the error has no place. Available
 * since 1.0.
 */
uint32_t tw_error_column(const struct tw_error *error);

/**
 * Frees an error. Available since 1.0.
 */
void tw_error_destroy(struct tw_error *error);

/**
 * Parses a layout for a tensor with the `rank` sizes `shape`. `layout` is a family's attribute in Triton's syntax
 * (`#ttg.blocked<{...}>`), or JSON of a family or of bases; a family is a named constructor of layouts. With a null
 * `target`, all plugins are searched for the family. Available since 1.0.
 */
struct tw_error *tw_layout_read(const struct tw_session *session,
                                const char *target,
                                const char *layout,
                                const uint64_t *shape,
                                size_t rank,
                                struct tw_layout **out);

/**
 * Prints a layout as `linear` (an attribute with bases), `json` (its bases) or `cute` (CuTe notation). Available since
 * 1.0.
 */
struct tw_error *tw_layout_write(const struct tw_session *session,
                                 const struct tw_layout *layout,
                                 const char *notation,
                                 struct tw_blob **out);

/**
 * Returns the number of dims on a side, `TW_SIDE_IN` or `TW_SIDE_OUT`; zero for null and for other numbers. Available
 * since 1.0.
 */
size_t tw_layout_dim_count(const struct tw_layout *layout,
                           uint32_t side);

/**
 * Returns the dim of a layout at `index` on a side, the most minor first. Available since 1.0.
 */
struct tw_error *tw_layout_dim(const struct tw_layout *layout,
                               uint32_t side,
                               size_t index,
                               struct tw_dim *out);

/**
 * Maps a position by a layout: takes one coordinate for each input dim, in order, and returns one for each output dim.
 * Offsets of a padded layout are those before padding. Available since 1.0.
 */
struct tw_error *tw_layout_apply(const struct tw_layout *layout,
                                 const uint64_t *position,
                                 size_t in_count,
                                 uint64_t *coordinates,
                                 size_t out_count);

/**
 * Returns 1 if two layouts are the same map, regardless of their families, else 0; 0 if one is null. Available since
 * 1.0.
 */
int32_t tw_layout_equal(const struct tw_layout *one,
                        const struct tw_layout *other);

/**
 * Composes two layouts: first `one`, then `other`. Available since 1.0.
 */
struct tw_error *tw_layout_compose(const struct tw_layout *one,
                                   const struct tw_layout *other,
                                   struct tw_layout **out);

/**
 * Composes `one` with the inverse of `other`: maps positions of `one` to positions of `other` with the same elements.
 * Available since 1.0.
 */
struct tw_error *tw_layout_invert_and_compose(const struct tw_layout *one,
                                              const struct tw_layout *other,
                                              struct tw_layout **out);

/**
 * Returns the direct sum of two layouts: in a shared output dim, the coordinates of `other` are shifted above those of
 * `one`. Available since 1.0.
 */
struct tw_error *tw_layout_direct_sum(const struct tw_layout *one,
                                      const struct tw_layout *other,
                                      struct tw_layout **out);

/**
 * Returns the inverse of a layout that holds every element once. Available since 1.0.
 */
struct tw_error *tw_layout_invert(const struct tw_layout *layout, struct tw_layout **out);

/**
 * Frees a layout. Available since 1.0.
 */
void tw_layout_destroy(struct tw_layout *layout);

/**
 * Returns the number of names in a list. Zero for null. Available since 1.0.
 */
size_t tw_names_count(const struct tw_names *names);

/**
 * Returns the name at `index`, counted from zero; null past the last. Lives as long as the list. Available since 1.0.
 */
const char *tw_names_at(const struct tw_names *names,
                        size_t index);

/**
 * Frees a list of names. Available since 1.0.
 */
void tw_names_destroy(struct tw_names *names);

/**
 * Lists the names of the operations of `tw_layout_operation`. Available since 1.2.
 */
struct tw_error *tw_layout_operations(struct tw_names **out);

/**
 * Performs the operation `name`, such as "flatten_outs" or "invert_and_compose"; Triton's names are read, too. The
 * documentation page on layout operations lists their inputs. `layouts` has the first layouts among these inputs, in
 * order; `inputs` has the others as a JSON object, null if there are none. A layout in `inputs` is JSON of its bases,
 * or of a family and its tensor's shape: {"params": ..., "shape": [...]}. `*out_layout` becomes the resulting layout,
 * null if the result is no layout; `*out_json` becomes the result as JSON. One of the two pointers may be null.
 * Available since 1.2.
 */
struct tw_error *tw_layout_operation(const struct tw_session *session,
                                     const char *name,
                                     const struct tw_layout *const *layouts,
                                     size_t layout_count,
                                     const char *inputs,
                                     struct tw_layout **out_layout,
                                     struct tw_blob **out_json);

/**
 * Plans the conversion of least cost on a target for a tensor of elements of `element_bits` bits. Available since 1.0.
 */
struct tw_error *tw_plan_conversion(const struct tw_session *session,
                                    const char *target,
                                    const struct tw_layout *source,
                                    const struct tw_layout *destination,
                                    uint32_t element_bits,
                                    struct tw_plan **out);

/**
 * Returns the operation counts and costs of a plan. Available since 1.1.
 */
struct tw_error *tw_plan_read_stats(const struct tw_plan *plan, struct tw_plan_stats *out);

/**
 * Returns the values of `tw_plan_read_stats` under the field names of interface 1.0. Available since 1.0.
 */
struct tw_error *tw_plan_figures(const struct tw_plan *plan, struct tw_figures *out);

/**
 * Prints a plan as kernel IR: a kernel that reads each lane's elements from memory, converts them, and writes them to
 * memory. Available since 1.0.
 */
struct tw_error *tw_plan_write(const struct tw_plan *plan,
                               struct tw_blob **out);

/**
 * Frees a plan. Available since 1.0.
 */
void tw_plan_destroy(struct tw_plan *plan);

/**
 * Runs the kernel of compiled code on the emulator of its target, over the whole grid, and writes the buffers that it
 * changed. The form `kernel` of `tw_compile` is enough. An illegal operation of the kernel, such as an access out of
 * bounds or a race, is an error with the code `TW_ERROR_FAULT`, which names the operation, block, warp and lane; the
 * buffers are then unchanged. `report` may be null. Available since 1.3.
 */
struct tw_error *tw_run(const struct tw_session *session,
                        const struct tw_code *code,
                        const struct tw_launch *launch,
                        struct tw_run_report *report);

/**
 * Creates a session. `options` may be null if `count` is zero. Option keys: `plugin` (a library or manifest,
 * repeatable), `plugin-directory` (likewise), `discover` (`yes` or `no`: whether plugins are searched in the folder of
 * this library, in its folder `tilewright`, along `TILEWRIGHT_PLUGIN_PATH`, and in the folder of the program; default
 * `yes`), `targets` (a directory of target files, repeatable), `isolate` (the path of the command `tilewright`, which
 * then serves each plugin in a child process), `timeout` (time limit of such a process for one answer in seconds;
 * default 60). `callback` may be null; it receives the diagnostics of calls of this session, with `context`. Opens
 * only the plugins that `plugin` names; others are opened when first used. Available since 1.0.
 */
struct tw_error *tw_session_create(const struct tw_option *options,
                                   size_t count,
                                   tw_diagnostic_callback callback,
                                   void *context,
                                   struct tw_session **out);

/**
 * Frees a session. Plugins stay loaded. Available since 1.0.
 */
void tw_session_destroy(struct tw_session *session);

/**
 * Returns the names of all known targets, including those without a plugin. Available since 1.0.
 */
struct tw_error *tw_session_targets(const struct tw_session *session, struct tw_names **out);

/**
 * Returns the names of the discovered plugins, in search order. Available since 1.0.
 */
struct tw_error *tw_session_plugins(const struct tw_session *session, struct tw_names **out);

/**
 * Returns the properties of a target. Available since 1.0.
 */
struct tw_error *tw_session_target(const struct tw_session *session,
                                   const char *target,
                                   struct tw_target *out);

/**
 * Returns the description of a target as a JSON object: `target`, `product`, `architecture`, `lanes` (the possible
 * numbers of lanes of a warp), `shared_bytes`, `plugin` (the plugin that serves it, or null). Available since 1.0.
 */
struct tw_error *tw_session_write_target(const struct tw_session *session,
                                         const char *target,
                                         struct tw_blob **out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TILEWRIGHT_H */
