/*
 * Tilewright for compilers that are written in C: layouts, plans of data movement, and code for GPUs.
 *
 * Generated from the crate `tilewright-c`; docs/embedding.md tells how it is used.
 *
 * A function that can fail returns an error, null where all went well; what it makes is written to `out` only then.
 * Whoever gets a handle frees it by the function that ends in `_destroy`. Handles do not change after they were made and may be
 * used from several threads at once. Texts end with a zero byte and are UTF-8. A struct that is filled in begins with
 * `struct_size`, which the caller sets; fields are only ever appended.
 */

#ifndef TILEWRIGHT_H
#define TILEWRIGHT_H

#include <stddef.h>
#include <stdint.h>

/**
 * The major version of this interface: functions and fields are never taken away or changed within one.
 */
#define TW_ABI_MAJOR 1

/**
 * The minor version: it counts what was added. A host that was built for a lower one works.
 */
#define TW_ABI_MINOR 0

/**
 * Something failed.
 */
#define TW_SEVERITY_ERROR 1

/**
 * Something is suspicious.
 */
#define TW_SEVERITY_WARNING 2

/**
 * Something worth knowing.
 */
#define TW_SEVERITY_INFO 3

/**
 * For those who look for a fault.
 */
#define TW_SEVERITY_DEBUG 4

/**
 * The caller broke a rule of this interface: a null pointer, an index past the end, a text that is no UTF-8.
 */
#define TW_ERROR_ARGUMENT 1

/**
 * An option is not known, or its value means nothing.
 */
#define TW_ERROR_OPTION 2

/**
 * A layout, program or request is wrong; where it is a text, the error has the place.
 */
#define TW_ERROR_INPUT 3

/**
 * There is no such target.
 */
#define TW_ERROR_TARGET 4

/**
 * A plugin is missing, cannot be loaded, or broke.
 */
#define TW_ERROR_PLUGIN 5

/**
 * Nothing is wrong, but the target cannot do it.
 */
#define TW_ERROR_UNSUPPORTED 6

/**
 * The target's code generator failed.
 */
#define TW_ERROR_COMPILE 7

/**
 * A fault of Tilewright; worth reporting.
 */
#define TW_ERROR_INTERNAL 8

/**
 * The dims that a layout maps from: register, lane, warp and block; offset and block of a layout in memory.
 */
#define TW_SIDE_IN 0

/**
 * The dims that a layout maps to: the axes of a tensor.
 */
#define TW_SIDE_OUT 1

/**
 * Bytes, or a text.
 */
typedef struct tw_blob tw_blob;

/**
 * Compiled code, in the forms that were asked for.
 */
typedef struct tw_code tw_code;

/**
 * Why there is no answer.
 */
typedef struct tw_error tw_error;

/**
 * A layout of a tensor: a linear map over F2, with its padding where it is one in memory.
 */
typedef struct tw_layout tw_layout;

/**
 * Names in an order that is always the same.
 */
typedef struct tw_names tw_names;

/**
 * A conversion's plan, for one target.
 */
typedef struct tw_plan tw_plan;

/**
 * Targets and plugins, opened as they are needed.
 */
typedef struct tw_session tw_session;

/**
 * One option.
 */
typedef struct tw_option {
    /**
     * Its name.
     */
    const char *key;
    /**
     * Its value as text.
     */
    const char *value;
} tw_option;

/**
 * What a launcher must know of a kernel.
 */
typedef struct tw_kernel {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * Its name; lives as long as the code.
     */
    const char *name;
    /**
     * Lanes of a warp that it was compiled for.
     */
    uint32_t lanes;
    /**
     * Warps of a block.
     */
    uint32_t warps;
    /**
     * Blocks of a cluster; 1 where it was compiled for none.
     */
    uint32_t blocks;
    /**
     * Parameters, where whoever compiled it says.
     */
    uint32_t parameters;
    /**
     * Shared memory of a block in bytes, which is part of the code.
     */
    uint64_t shared_bytes;
} tw_kernel;

/**
 * A dim of a layout.
 */
typedef struct tw_dim {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * Its name: "register", "lane", "warp", "block", "offset", "row", "col", "dim0", "dim1", ... Lives as long as the layout.
     */
    const char *name;
    /**
     * How many positions it has; a power of two.
     */
    uint64_t size;
} tw_dim;

/**
 * What a plan takes. Counts are of a warp, the most over the warps of a block.
 */
typedef struct tw_figures {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * Which way it goes: "none", "register", "shuffle", "shared", ... Lives as long as the plan.
     */
    const char *path;
    /**
     * Exchanges between lanes.
     */
    uint64_t exchanges;
    /**
     * Wavefronts of shared memory that stores take.
     */
    uint64_t wavefronts_stored;
    /**
     * Those that loads take.
     */
    uint64_t wavefronts_loaded;
    /**
     * Barriers of the block.
     */
    uint64_t barriers;
    /**
     * Barriers of a warp.
     */
    uint64_t warp_barriers;
    /**
     * Bytes of shared memory of a block.
     */
    uint64_t shared_bytes;
    /**
     * The price in wavefront slots of a warp.
     */
    double slots;
    /**
     * Cycles of a block by the target's table.
     */
    double cycles;
    /**
     * Exchanges and wavefronts that no plan can go below.
     */
    uint64_t least_exchanges;
    /**
     * Wavefronts of stores that no plan of this way can go below.
     */
    uint64_t least_wavefronts_stored;
    /**
     * Wavefronts of loads that no plan of this way can go below.
     */
    uint64_t least_wavefronts_loaded;
} tw_figures;

/**
 * Something that is said.
 */
typedef struct tw_diagnostic {
    /**
     * The size of this struct; fields behind it are not there.
     */
    size_t struct_size;
    /**
     * One of `TW_SEVERITY_...`; unknown numbers count as the last.
     */
    uint32_t severity;
    /**
     * What is said; lives as long as the call.
     */
    const char *message;
} tw_diagnostic;

/**
 * Takes what is said. It is called by the thread that called, before that call returns; it must return, and may not call
 * the `tw_session` that it speaks for.
 */
typedef void (*tw_diagnostic_callback)(void *context, const struct tw_diagnostic *diagnostic);

/**
 * What a host must know of a target to make layouts for it.
 */
typedef struct tw_target {
    /**
     * The size of this struct, which the caller sets.
     */
    size_t struct_size;
    /**
     * Lanes of a warp where nobody asks for another number.
     */
    uint32_t lanes;
    /**
     * 1 where a plugin serves the target, so that code can be made for it; else 0.
     */
    uint32_t served;
    /**
     * Shared memory of a block in bytes.
     */
    uint64_t shared_bytes;
} tw_target;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the interface that is linked: the major version times 65536, plus the minor. Available since 1.0.
 */
uint32_t tw_abi_version(void);

/**
 * The version of Tilewright, such as "0.1.0"; lives as long as the process. Available since 1.0.
 */
const char *tw_version(void);

/**
 * The bytes; behind the last there is a zero byte, so that a text can be read as one. Null for null. Available since 1.0.
 */
const char *tw_blob_data(const struct tw_blob *blob);

/**
 * How many bytes there are, without the zero byte behind them. Zero for null. Available since 1.0.
 */
size_t tw_blob_size(const struct tw_blob *blob);

/**
 * Frees the bytes. Available since 1.0.
 */
void tw_blob_destroy(struct tw_blob *blob);

/**
 * Compiles a tile program, which is `length` bytes of Triton's IR. Keys of options: `emit` (forms with commas between
 * them: `layouts`, `plan`, `kernel`, `llvm`, `asm`, `object`, `functions`; `asm` where it is not said), `entry` (the function that a launch
 * begins with; may be left out where there is one), `warps` of a block and `lanes` of a warp (where the program does not say),
 * `strategy` (`least-cost`, or `propagation`), `stages` (of loops whose loads go ahead, 1 to 64), `optimisation` (0 to 3).
 * Available since 1.0.
 */
struct tw_error *tw_compile(const struct tw_session *session,
                            const char *target,
                            const char *program,
                            size_t length,
                            const struct tw_option *options,
                            size_t count,
                            struct tw_code **out);

/**
 * Compiles a plan's kernel; options as of `tw_compile`, where `entry`, `warps`, `lanes` and `strategy` say nothing. Available
 * since 1.0.
 */
struct tw_error *tw_compile_plan(const struct tw_session *session,
                                 const struct tw_plan *plan,
                                 const struct tw_option *options,
                                 size_t count,
                                 struct tw_code **out);

/**
 * The name of the form of this number, in the order in which they were made; null past the last. Available since 1.0.
 */
const char *tw_code_form_name(const struct tw_code *code,
                              size_t index);

/**
 * The bytes of a form, which live as long as the code; behind the last there is a zero byte. `size` and `format` may be null;
 * `format` becomes the usual extension of such files (`ptx`, `s`, `hsaco`, `spv`, ...). Available since 1.0.
 */
struct tw_error *tw_code_bytes(const struct tw_code *code,
                               const char *form,
                               const char **data,
                               size_t *size,
                               const char **format);

/**
 * How many kernels the code has. Zero for null. Available since 1.0.
 */
size_t tw_code_kernel_count(const struct tw_code *code);

/**
 * What a launcher must know of a kernel. Available since 1.0.
 */
struct tw_error *tw_code_kernel(const struct tw_code *code, size_t index, struct tw_kernel *out);

/**
 * Frees code. Available since 1.0.
 */
void tw_code_destroy(struct tw_code *code);

/**
 * What kind of error it is: one of `TW_ERROR_...`; a host takes numbers that it does not know as
 * `TW_ERROR_INTERNAL`. Zero for null. Available since 1.0.
 */
uint32_t tw_error_code(const struct tw_error *error);

/**
 * What went wrong, and what to do; lives as long as the error. Empty for null. Available since 1.0.
 */
const char *tw_error_message(const struct tw_error *error);

/**
 * The line of the text that is wrong, from one; zero where there is none. Available since 1.0.
 */
uint32_t tw_error_line(const struct tw_error *error);

/**
 * The character of that line, from one; zero where there is none. Available since 1.0.
 */
uint32_t tw_error_column(const struct tw_error *error);

/**
 * Frees an error. Available since 1.0.
 */
void tw_error_destroy(struct tw_error *error);

/**
 * Reads a layout for a tensor of `rank` sizes: a family's attribute as Triton writes it (`#ttg.blocked<{...}>`), or JSON of
 * a family or of bases. `target` may be null; then all plugins are asked for the family. Available since 1.0.
 */
struct tw_error *tw_layout_read(const struct tw_session *session,
                                const char *target,
                                const char *layout,
                                const uint64_t *shape,
                                size_t rank,
                                struct tw_layout **out);

/**
 * Writes a layout: as `linear` (an attribute by bases), `json` (its bases), or `cute` (CuTe's notation). Available since 1.0.
 */
struct tw_error *tw_layout_write(const struct tw_session *session,
                                 const struct tw_layout *layout,
                                 const char *notation,
                                 struct tw_blob **out);

/**
 * How many dims a layout has on a side, `TW_SIDE_IN` or `TW_SIDE_OUT`; zero for null and for other numbers. Available since 1.0.
 */
size_t tw_layout_dim_count(const struct tw_layout *layout,
                           uint32_t side);

/**
 * A dim of a layout, the most minor first. Available since 1.0.
 */
struct tw_error *tw_layout_dim(const struct tw_layout *layout,
                               uint32_t side,
                               size_t index,
                               struct tw_dim *out);

/**
 * Where a position is mapped to: one coordinate for each dim of the side in, in their order, gives one for each dim of the
 * side out. Of a padded layout, offsets are those before padding. Available since 1.0.
 */
struct tw_error *tw_layout_apply(const struct tw_layout *layout,
                                 const uint64_t *position,
                                 size_t in_count,
                                 uint64_t *coordinates,
                                 size_t out_count);

/**
 * Whether two layouts are the same map, whatever family spelled them; 0 where one is null. Available since 1.0.
 */
int32_t tw_layout_equal(const struct tw_layout *one,
                        const struct tw_layout *other);

/**
 * First `one`, then `other`. Available since 1.0.
 */
struct tw_error *tw_layout_compose(const struct tw_layout *one,
                                   const struct tw_layout *other,
                                   struct tw_layout **out);

/**
 * First `one`, then the way back of `other`: from `one`'s positions to those of `other` that hold the same elements.
 * Available since 1.0.
 */
struct tw_error *tw_layout_invert_and_compose(const struct tw_layout *one,
                                              const struct tw_layout *other,
                                              struct tw_layout **out);

/**
 * The direct sum: where both write the same dim, `other`'s part is shifted above `one`'s. Available since 1.0.
 */
struct tw_error *tw_layout_direct_sum(const struct tw_layout *one,
                                      const struct tw_layout *other,
                                      struct tw_layout **out);

/**
 * The inverse of a layout that holds every element once. Available since 1.0.
 */
struct tw_error *tw_layout_invert(const struct tw_layout *layout, struct tw_layout **out);

/**
 * Frees a layout. Available since 1.0.
 */
void tw_layout_destroy(struct tw_layout *layout);

/**
 * How many names there are. Zero for null. Available since 1.0.
 */
size_t tw_names_count(const struct tw_names *names);

/**
 * The name of this number, from zero; null past the last. Lives as long as the list. Available since 1.0.
 */
const char *tw_names_at(const struct tw_names *names, size_t index);

/**
 * Frees a list. Available since 1.0.
 */
void tw_names_destroy(struct tw_names *names);

/**
 * The cheapest plan on a target for a tensor whose elements are `element_bits` wide. Available since 1.0.
 */
struct tw_error *tw_plan_conversion(const struct tw_session *session,
                                    const char *target,
                                    const struct tw_layout *source,
                                    const struct tw_layout *destination,
                                    uint32_t element_bits,
                                    struct tw_plan **out);

/**
 * What a plan takes. Available since 1.0.
 */
struct tw_error *tw_plan_figures(const struct tw_plan *plan, struct tw_figures *out);

/**
 * The kernel IR of a plan: a kernel that reads each lane's elements from memory, converts them, and writes them. Available
 * since 1.0.
 */
struct tw_error *tw_plan_write(const struct tw_plan *plan,
                               struct tw_blob **out);

/**
 * Frees a plan. Available since 1.0.
 */
void tw_plan_destroy(struct tw_plan *plan);

/**
 * Makes a session. `options` may be null where `count` is zero. Keys: `plugin` (a library or manifest, may be given
 * several times), `plugin-directory` (likewise), `discover` (`yes` or `no`: whether plugins are looked for beside this
 * library, in its folder `tilewright`, along `TILEWRIGHT_PLUGIN_PATH`, and beside the program; `yes` where it is not said),
 * `targets` (a directory of target files, likewise several times), `isolate` (the path of the command `tilewright`, which then
 * serves each plugin in a process of its own), `timeout` (seconds that such a process may take for one answer; 60 where it is not
 * said). `callback` may be null; it hears what is said in calls of this session, and gets `context`. Opens no plugin yet.
 * Available since 1.0.
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
 * The names of the targets, those that no plugin serves too. Available since 1.0.
 */
struct tw_error *tw_session_targets(const struct tw_session *session, struct tw_names **out);

/**
 * The names of the plugins that were found, the one that is asked first first. Available since 1.0.
 */
struct tw_error *tw_session_plugins(const struct tw_session *session, struct tw_names **out);

/**
 * What a host must know of a target. Available since 1.0.
 */
struct tw_error *tw_session_target(const struct tw_session *session,
                                   const char *target,
                                   struct tw_target *out);

/**
 * What is known of a target, as a JSON object: `target`, `product`, `architecture`, `lanes` (those of a warp that there
 * are), `shared_bytes`, `plugin` (who serves it, or null). Available since 1.0.
 */
struct tw_error *tw_session_write_target(const struct tw_session *session,
                                         const char *target,
                                         struct tw_blob **out);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TILEWRIGHT_H */
