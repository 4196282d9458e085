/*
 * A host compiler in C for a small tile language (language.c): requests a layout and a layout conversion from Tilewright,
 * compiles a program for the named targets, and prints the assembly.
 *
 *     tile_host PROGRAM TARGET...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tilewright.h>

#include "language.h"

/* Prints an error and frees it; returns 1 if there was one. */
static int failed(const char *what, tw_error *error) {
    if (!error) return 0;
    fprintf(stderr, "%s: ", what);
    if (tw_error_line(error)) fprintf(stderr, "%u:%u: ", tw_error_line(error), tw_error_column(error));
    fprintf(stderr, "%s (error %u)\n", tw_error_message(error), tw_error_code(error));
    tw_error_destroy(error);
    return 1;
}

static void hear(void *context, const tw_diagnostic *said) {
    if (said->severity <= TW_SEVERITY_WARNING) fprintf(context, "note: %s\n", said->message);
}

/* Plans the conversion of a tile of 32 x 32 f32 from the layout that loads rows best to the one that stores columns best, with
 * the target's warps. */
static int ask(const tw_session *session, const char *target) {
    const uint64_t shape[] = {32, 32};
    const uint64_t position[] = {1, 9, 2, 0}; /* register, lane, warp, block */
    uint64_t coordinates[2] = {0, 0};
    char texts[2][160];
    tw_target known;
    tw_layout *layouts[2] = {NULL, NULL};
    tw_plan *plan = NULL;
    tw_blob *text = NULL;
    tw_figures figures;
    int bad, index;
    figures.struct_size = sizeof figures;
    known.struct_size = sizeof known;
    bad = failed("target", tw_session_target(session, target, &known));
    if (!bad) {
        snprintf(texts[0], sizeof texts[0],
                 "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [%u, 8], warpsPerCTA = [4, 1], order = [1, 0]}>",
                 known.lanes / 8);
        snprintf(texts[1], sizeof texts[1],
                 "#ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, %u], warpsPerCTA = [1, 4], order = [0, 1]}>",
                 known.lanes / 8);
    }
    for (index = 0; index < 2 && !bad; index++)
        bad = failed("layout", tw_layout_read(session, NULL, texts[index], shape, 2, &layouts[index]));
    bad = bad || failed("apply", tw_layout_apply(layouts[0], position, 4, coordinates, 2));
    bad = bad || failed("write", tw_layout_write(session, layouts[0], "cute", &text));
    bad = bad || failed("plan", tw_plan_conversion(session, target, layouts[0], layouts[1], 32, &plan));
    bad = bad || failed("figures", tw_plan_figures(plan, &figures));
    if (!bad) {
        printf("; %s: %s\n", target, tw_blob_data(text));
        printf("; register 1 of lane 9 of warp 2 holds element (%u, %u)\n", (unsigned)coordinates[0], (unsigned)coordinates[1]);
        printf("; to columns: path %s, %u shuffles, %u + %u wavefronts, %u bytes\n", figures.path, (unsigned)figures.exchanges,
               (unsigned)figures.wavefronts_stored, (unsigned)figures.wavefronts_loaded, (unsigned)figures.shared_bytes);
    }
    tw_plan_destroy(plan);
    tw_blob_destroy(text);
    tw_layout_destroy(layouts[1]);
    tw_layout_destroy(layouts[0]);
    return bad;
}

static int compile(const tw_session *session, const char *target, const char *program) {
    const tw_option options[] = {{"warps", "4"}, {"emit", "asm"}};
    tw_code *code = NULL;
    tw_kernel kernel;
    const char *assembly;
    int bad;
    kernel.struct_size = sizeof kernel;
    bad = failed(target, tw_compile(session, target, program, strlen(program), options, 2, &code));
    bad = bad || failed(target, tw_code_bytes(code, "asm", &assembly, NULL, NULL));
    bad = bad || failed(target, tw_code_kernel(code, 0, &kernel));
    if (!bad) printf("; kernel %s: %u warps of %u lanes\n%s\n", kernel.name, kernel.warps, kernel.lanes, assembly);
    tw_code_destroy(code);
    return bad;
}

/* The text of a file; freed by the caller. */
static char *read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0) {
        fprintf(stderr, "%s: cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return text;
}

int main(int count, char **arguments) {
    char message[256];
    tw_session *session = NULL;
    char *source, *program;
    int index, bad;
    if (count < 3) {
        fprintf(stderr, "usage: %s PROGRAM TARGET...\n", arguments[0]);
        return 2;
    }
    if (tw_abi_version() >> 16 != TW_ABI_MAJOR) {
        fprintf(stderr, "libtilewright has another interface than the header that this was compiled with\n");
        return 1;
    }
    source = read_file(arguments[1]);
    program = translate(source, message, sizeof message);
    if (!program) {
        fprintf(stderr, "%s: %s\n", arguments[1], message);
        return 1;
    }
    bad = failed("session", tw_session_create(NULL, 0, hear, stderr, &session));
    for (index = 2; index < count && !bad; index++)
        bad = ask(session, arguments[index]) || compile(session, arguments[index], program);
    tw_session_destroy(session);
    free(program);
    free(source);
    return bad;
}
