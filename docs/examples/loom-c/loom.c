/*
 * The invented GPU of the tutorial in plain C, using only the header of the plugin interface: its matrix instruction and
 * its layout family. Hosts can plan with them, choose them, and execute them on the emulator. It compiles no code.
 *
 *     cc -shared -fPIC -I include -o libloom_c.so loom.c
 */
#include <stdlib.h>
#include <string.h>

#include "tilewright_plugin.h"

/* The interface takes CBOR in an envelope. Values are written as JSON here, and converted to CBOR on request. */
#define ENVELOPE(body) "{\"version\": 1, \"body\": " body "}"

#define LAYOUT(registers, lanes, rows, columns, register_bases, lane_bases)                                       \
    "{\"in_dims\": [[\"register\", " registers "], [\"lane\", " lanes "]],"                                       \
    " \"out_dims\": [[\"dim0\", " rows "], [\"dim1\", " columns "]],"                                             \
    " \"bases\": {\"register\": " register_bases ", \"lane\": " lane_bases "}}"

#define OPERAND(role, element, bits, layout)                                                                      \
    "{\"register\": {\"role\": \"" role "\", \"element\": \"" element "\", \"bits\": " bits ", \"layout\": " layout "}}"

/* Elements (m, n): four columns in registers, two columns and eight rows over the lanes. */
#define SUMS LAYOUT("4", "16", "8", "8", "[[0, 1], [0, 2]]", "[[0, 4], [1, 0], [2, 0], [4, 0]]")

/* loom.mma: d = a * b + c, 8 x 4 times 4 x 8. A basis is the (row, column) of one bit of the register or lane index. */
static const char info[] = ENVELOPE(
    "{\"families\": [\"loom_mma\"], \"instructions\": [{"
    "\"name\": \"loom.mma.8x8x4.f32.f16\", \"kind\": \"matrix\", \"semantics\": \"contract\", \"cycles\": 8,"
    "\"source\": \"invented\", \"operands\": ["
    OPERAND("d", "f32", "32", SUMS) ","
    OPERAND("a", "f16", "16", LAYOUT("2", "16", "8", "4", "[[0, 1]]", "[[0, 2], [1, 0], [2, 0], [4, 0]]")) ","
    OPERAND("b", "f16", "16", LAYOUT("2", "16", "4", "8", "[[1, 0]]", "[[2, 0], [0, 1], [0, 2], [0, 4]]")) ","
    OPERAND("c", "f32", "32", SUMS) "]}]}");

/* The family's layout of one tile and one warp; other shapes are rejected. */
static const char tile[] = ENVELOPE(
    "{\"layout\": {\"distributed\":"
    "{\"in_dims\": [[\"register\", 4], [\"lane\", 16], [\"warp\", 1], [\"block\", 1]],"
    " \"out_dims\": [[\"dim0\", 8], [\"dim1\", 8]], \"bases\": {\"register\": [[0, 1], [0, 2]],"
    " \"lane\": [[0, 4], [1, 0], [2, 0], [4, 0]], \"warp\": [], \"block\": []}}}}");

struct TilewrightTarget {
    int unused;
};

struct TilewrightBlob {
    size_t length;
    uint8_t bytes[4096];
};

struct TilewrightError {
    uint32_t code;
    const char *messages[2];
};

static TilewrightTarget the_target;

/* Appends the CBOR of the JSON value at `text` (strings without escapes, integers, lists, maps). Returns its end. */
static const char *value(const char *text, TilewrightBlob *blob) {
    char closing;
    text += strspn(text, " ");
    closing = *text == '[' ? ']' : '}';
    if (*text == '[' || *text == '{') {
        blob->bytes[blob->length++] = *text == '[' ? 0x9f : 0xbf; /* indefinite length, ends with 0xff */
        for (text++; *(text += strspn(text, " ,:")) != closing;) text = value(text, blob);
        blob->bytes[blob->length++] = 0xff;
        return text + 1;
    }
    if (*text == '"') {
        size_t length = strcspn(++text, "\"");
        blob->bytes[blob->length++] = 0x78;
        blob->bytes[blob->length++] = (uint8_t)length;
        memcpy(blob->bytes + blob->length, text, length);
        blob->length += length;
        return text + length + 1;
    }
    blob->bytes[blob->length++] = 0x18;
    blob->bytes[blob->length++] = (uint8_t)atoi(text);
    return text + strspn(text, "0123456789");
}

/* Creates an error; the header documents the messages of each code. */
static TilewrightError *failed(uint32_t code, const char *first, const char *second) {
    TilewrightError *error = malloc(sizeof *error);
    if (!error) abort();
    error->code = code;
    error->messages[0] = first;
    error->messages[1] = second;
    return error;
}

static TilewrightError *answered(const char *json, TilewrightBlob **out) {
    *out = calloc(1, sizeof **out);
    if (!*out) return failed(TILEWRIGHT_ERROR_INTERNAL, "no memory", NULL);
    value(json, *out);
    return NULL;
}

static TilewrightSlice slice(const void *data, size_t length) {
    TilewrightSlice result;
    result.data = data;
    result.length = length;
    return result;
}

static TilewrightSlice text(const char *text) { return slice(text, text ? strlen(text) : 0); }
static TilewrightSlice name(void) { return text("loom-c"); }
static TilewrightSlice version(void) { return text("0.1.0"); }
static TilewrightSlice architecture(uint32_t index) { return text(index == 0 ? "loom1" : NULL); }

static TilewrightError *target_create(TilewrightSlice description, TilewrightTarget **out) {
    (void)description;
    *out = &the_target;
    return NULL;
}

static void target_destroy(TilewrightTarget *target) { (void)target; }

static TilewrightError *target_info(const TilewrightTarget *target, TilewrightBlob **out) {
    (void)target;
    return answered(info, out);
}

/* {"shape": [8, 8], ...} in CBOR, for writers with definite list lengths. */
static int is_one_tile(TilewrightSlice request) {
    static const char shape[] = "\x65shape\x82\x08\x08";
    size_t at, length = sizeof shape - 1;
    for (at = 0; at + length <= request.length; at++)
        if (!memcmp((const char *)request.data + at, shape, length)) return 1;
    return 0;
}

static TilewrightError *resolve_family(const TilewrightTarget *target, TilewrightSlice request, TilewrightBlob **out) {
    (void)target;
    if (!is_one_tile(request)) return failed(TILEWRIGHT_ERROR_FAMILY_LAYOUT, "loom_mma", "it is described for 8x8 alone");
    return answered(tile, out);
}

static TilewrightError *compile(const TilewrightTarget *target, TilewrightSlice module, TilewrightSlice options,
                                TilewrightBlob **out) {
    (void)target, (void)module, (void)options, (void)out;
    return failed(TILEWRIGHT_ERROR_UNSUPPORTED, "code: this plugin describes a machine and compiles nothing", NULL);
}

static TilewrightSlice blob_bytes(const TilewrightBlob *blob) { return slice(blob->bytes, blob->length); }
static void blob_destroy(TilewrightBlob *blob) { free(blob); }
static uint32_t error_code(const TilewrightError *error) { return error->code; }
static TilewrightSlice error_message(const TilewrightError *error, uint32_t index) {
    return text(index < 2 ? error->messages[index] : NULL);
}
static void error_destroy(TilewrightError *error) { free(error); }

static const TilewrightPlugin table = {
    sizeof(TilewrightPlugin), NULL,
    TILEWRIGHT_PLUGIN_ABI_MAJOR, TILEWRIGHT_PLUGIN_ABI_MINOR,
    name, version, architecture,
    target_create, target_destroy, target_info, resolve_family, compile,
    blob_bytes, blob_destroy, error_code, error_message, error_destroy,
};

TILEWRIGHT_PLUGIN_EXPORT const TilewrightPlugin *
tilewright_plugin_query(uint32_t host_major, uint32_t host_minor, const TilewrightHost *host) {
    (void)host_minor, (void)host;
    return host_major == TILEWRIGHT_PLUGIN_ABI_MAJOR ? &table : NULL;
}
