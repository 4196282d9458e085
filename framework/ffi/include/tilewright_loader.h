/*
 * Loads libtilewright at run time, so that a host links nothing: tw_api_load fills a table with its functions.
 *
 * Generated from tilewright.h. The host links the system's loader (-ldl, where that is a library of its own).
 */
#ifndef TILEWRIGHT_LOADER_H
#define TILEWRIGHT_LOADER_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tilewright.h"

/* The functions of the library. Those that a later minor version added are null in an older library. */
typedef struct tw_api {
    void *library;
    uint32_t (*abi_version)(void);
    const char *(*version)(void);
    const char *(*blob_data)(const struct tw_blob *blob);
    size_t (*blob_size)(const struct tw_blob *blob);
    void (*blob_destroy)(struct tw_blob *blob);
    struct tw_error *(*compile)(const struct tw_session *session, const char *target, const char *program, size_t length, const struct tw_option *options, size_t count, struct tw_code **out);
    struct tw_error *(*compile_plan)(const struct tw_session *session, const struct tw_plan *plan, const struct tw_option *options, size_t count, struct tw_code **out);
    const char *(*code_form_name)(const struct tw_code *code, size_t index);
    struct tw_error *(*code_bytes)(const struct tw_code *code, const char *form, const char **data, size_t *size, const char **format);
    size_t (*code_kernel_count)(const struct tw_code *code);
    struct tw_error *(*code_kernel)(const struct tw_code *code, size_t index, struct tw_kernel *out);
    void (*code_destroy)(struct tw_code *code);
    uint32_t (*error_code)(const struct tw_error *error);
    const char *(*error_message)(const struct tw_error *error);
    uint32_t (*error_line)(const struct tw_error *error);
    uint32_t (*error_column)(const struct tw_error *error);
    void (*error_destroy)(struct tw_error *error);
    struct tw_error *(*layout_read)(const struct tw_session *session, const char *target, const char *layout, const uint64_t *shape, size_t rank, struct tw_layout **out);
    struct tw_error *(*layout_write)(const struct tw_session *session, const struct tw_layout *layout, const char *notation, struct tw_blob **out);
    size_t (*layout_dim_count)(const struct tw_layout *layout, uint32_t side);
    struct tw_error *(*layout_dim)(const struct tw_layout *layout, uint32_t side, size_t index, struct tw_dim *out);
    struct tw_error *(*layout_apply)(const struct tw_layout *layout, const uint64_t *position, size_t in_count, uint64_t *coordinates, size_t out_count);
    int32_t (*layout_equal)(const struct tw_layout *one, const struct tw_layout *other);
    struct tw_error *(*layout_compose)(const struct tw_layout *one, const struct tw_layout *other, struct tw_layout **out);
    struct tw_error *(*layout_invert_and_compose)(const struct tw_layout *one, const struct tw_layout *other, struct tw_layout **out);
    struct tw_error *(*layout_direct_sum)(const struct tw_layout *one, const struct tw_layout *other, struct tw_layout **out);
    struct tw_error *(*layout_invert)(const struct tw_layout *layout, struct tw_layout **out);
    void (*layout_destroy)(struct tw_layout *layout);
    size_t (*names_count)(const struct tw_names *names);
    const char *(*names_at)(const struct tw_names *names, size_t index);
    void (*names_destroy)(struct tw_names *names);
    struct tw_error *(*layout_operations)(struct tw_names **out);
    struct tw_error *(*layout_operation)(const struct tw_session *session, const char *name, const struct tw_layout *const *layouts, size_t layout_count, const char *inputs, struct tw_layout **out_layout, struct tw_blob **out_json);
    struct tw_error *(*plan_conversion)(const struct tw_session *session, const char *target, const struct tw_layout *source, const struct tw_layout *destination, uint32_t element_bits, struct tw_plan **out);
    struct tw_error *(*plan_read_stats)(const struct tw_plan *plan, struct tw_plan_stats *out);
    struct tw_error *(*plan_figures)(const struct tw_plan *plan, struct tw_figures *out);
    struct tw_error *(*plan_write)(const struct tw_plan *plan, struct tw_blob **out);
    void (*plan_destroy)(struct tw_plan *plan);
    struct tw_error *(*run)(const struct tw_session *session, const struct tw_code *code, const struct tw_launch *launch, struct tw_run_report *report);
    struct tw_error *(*session_create)(const struct tw_option *options, size_t count, tw_diagnostic_callback callback, void *context, struct tw_session **out);
    void (*session_destroy)(struct tw_session *session);
    struct tw_error *(*session_targets)(const struct tw_session *session, struct tw_names **out);
    struct tw_error *(*session_plugins)(const struct tw_session *session, struct tw_names **out);
    struct tw_error *(*session_target)(const struct tw_session *session, const char *target, struct tw_target *out);
    struct tw_error *(*session_write_target)(const struct tw_session *session, const char *target, struct tw_blob **out);
} tw_api;

/* Fills the table from the library of this path, or "libtilewright.so.1" for null. Returns 1, or 0 with the reason in
 * `message`, which has room for `size` bytes. The library is never unloaded: plugins live as long as the process. */
static inline int tw_api_load(tw_api *api, const char *path, char *message, size_t size) {
    static const char *const names[] = {
        "tw_abi_version",
        "tw_version",
        "tw_blob_data",
        "tw_blob_size",
        "tw_blob_destroy",
        "tw_compile",
        "tw_compile_plan",
        "tw_code_form_name",
        "tw_code_bytes",
        "tw_code_kernel_count",
        "tw_code_kernel",
        "tw_code_destroy",
        "tw_error_code",
        "tw_error_message",
        "tw_error_line",
        "tw_error_column",
        "tw_error_destroy",
        "tw_layout_read",
        "tw_layout_write",
        "tw_layout_dim_count",
        "tw_layout_dim",
        "tw_layout_apply",
        "tw_layout_equal",
        "tw_layout_compose",
        "tw_layout_invert_and_compose",
        "tw_layout_direct_sum",
        "tw_layout_invert",
        "tw_layout_destroy",
        "tw_names_count",
        "tw_names_at",
        "tw_names_destroy",
        "tw_layout_operations",
        "tw_layout_operation",
        "tw_plan_conversion",
        "tw_plan_read_stats",
        "tw_plan_figures",
        "tw_plan_write",
        "tw_plan_destroy",
        "tw_run",
        "tw_session_create",
        "tw_session_destroy",
        "tw_session_targets",
        "tw_session_plugins",
        "tw_session_target",
        "tw_session_write_target",
    };
    void *found;
    size_t index;
    char *slots = (char *)api + sizeof(void *);
    memset(api, 0, sizeof *api);
    api->library = dlopen(path ? path : "libtilewright.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!api->library) {
        snprintf(message, size, "%s", dlerror());
        return 0;
    }
    for (index = 0; index < sizeof names / sizeof names[0]; index++) {
        found = dlsym(api->library, names[index]);
        memcpy(slots + index * sizeof found, &found, sizeof found);
    }
    if (!api->abi_version || api->abi_version() >> 16 != TW_ABI_MAJOR) {
        snprintf(message, size, "the library has another major version of the interface than %u", (unsigned)TW_ABI_MAJOR);
        return 0;
    }
    return 1;
}

#endif /* TILEWRIGHT_LOADER_H */
