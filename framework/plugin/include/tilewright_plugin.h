/*
 * The plugin interface of Tilewright, version 1.0, for plugins that are written in C.
 *
 * A plugin is a shared library that exports one symbol, tilewright_plugin_query, and answers a
 * host through the table that it returns. docs/plugin-abi.md has the rules and the form of the
 * bytes that cross.
 *
 * Rules for every struct: it begins with its size and an extension pointer; fields are only ever
 * appended; touch a field only where struct_size covers it.
 */
#ifndef TILEWRIGHT_PLUGIN_H
#define TILEWRIGHT_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Host and plugin must agree on the major version; the lower of both minor versions holds. */
#define TILEWRIGHT_PLUGIN_ABI_MAJOR 1u
#define TILEWRIGHT_PLUGIN_ABI_MINOR 0u

/* Version of the envelope around the bytes that cross. */
#define TILEWRIGHT_PLUGIN_WIRE_VERSION 1u

/* Bytes that somebody else owns; data may be null where length is zero. Texts are UTF-8 without
 * a terminating zero. */
typedef struct TilewrightSlice {
    const uint8_t *data;
    size_t length;
} TilewrightSlice;

/* An optional group of slots, found by name; skip names that you do not know. "devices" is
 * TilewrightDeviceTable, below. */
typedef struct TilewrightExtension {
    size_t struct_size;
    const struct TilewrightExtension *next;
    TilewrightSlice name;
} TilewrightExtension;

/* What a plugin makes; each is the plugin's own struct, which it frees itself when it is told to. */
typedef struct TilewrightTarget TilewrightTarget;
typedef struct TilewrightBlob TilewrightBlob;
typedef struct TilewrightError TilewrightError;
typedef struct TilewrightDevices TilewrightDevices;

/* Levels of messages; unknown numbers count as the last. */
enum {
    TILEWRIGHT_LEVEL_ERROR = 1,
    TILEWRIGHT_LEVEL_WARNING = 2,
    TILEWRIGHT_LEVEL_INFO = 3,
    TILEWRIGHT_LEVEL_DEBUG = 4
};

/* Kinds of errors, and the texts that error_message gives for index 0, 1, ...; unknown numbers
 * count as the first. */
enum {
    TILEWRIGHT_ERROR_INTERNAL = 1,          /* the plugin broke: messages */
    TILEWRIGHT_ERROR_MALFORMED = 2,         /* bytes cannot be read: what they should be, why */
    TILEWRIGHT_ERROR_UNSUPPORTED = 3,       /* the target cannot do it: what */
    TILEWRIGHT_ERROR_INVALID = 4,           /* the module breaks a rule: messages */
    TILEWRIGHT_ERROR_OPTION = 5,            /* an option cannot be taken: the option, why */
    TILEWRIGHT_ERROR_BACKEND = 6,           /* the code generator failed: messages */
    TILEWRIGHT_ERROR_ARCHITECTURE = 7,      /* not served: the architecture */
    TILEWRIGHT_ERROR_DESCRIPTION = 8,       /* the target's description cannot be used: why */
    TILEWRIGHT_ERROR_FAMILY = 9,            /* no such family: its name, then those there are */
    TILEWRIGHT_ERROR_FAMILY_PARAMETER = 10, /* family, parameter, why */
    TILEWRIGHT_ERROR_FAMILY_SHAPE = 11,     /* family, sizes with commas, why */
    TILEWRIGHT_ERROR_FAMILY_LAYOUT = 12,    /* no layout comes out: family, why */
    TILEWRIGHT_ERROR_NO_RUNTIME = 13,       /* a vendor's runtime is missing: how to get it */
    TILEWRIGHT_ERROR_OUT_OF_MEMORY = 14,    /* not enough on a device: the bytes asked for */
    TILEWRIGHT_ERROR_BUFFER = 15,           /* not the device's, or too small: messages */
    TILEWRIGHT_ERROR_LAUNCH = 16,           /* an artifact or launch does not fit: messages */
    TILEWRIGHT_ERROR_FAULT = 17,            /* a kernel did something wrong: messages */
    TILEWRIGHT_ERROR_DRIVER = 18            /* a driver failed: messages */
};

/* What the host offers. It lives until the process ends; its slots may be null, and may be called
 * from any thread. */
typedef struct TilewrightHost {
    size_t struct_size;
    const TilewrightExtension *extensions;
    uint32_t abi_major;
    uint32_t abi_minor;
    void *context; /* pass it to every slot */
    void (*log)(void *context, uint32_t level, TilewrightSlice message);
    /* So much of so much of what is done; a total of zero is unknown. */
    void (*progress)(void *context, uint64_t done, uint64_t total, TilewrightSlice what);
} TilewrightHost;

/*
 * What the plugin offers: a constant. No slot may be null.
 *
 * A slot that returns a TilewrightError returns null when all went well, and then has written
 * *out; otherwise it leaves *out alone. Calls may come from any thread, several at once, but
 * target_create is never called twice at once. Slices that the host passes live as long as the
 * call. No C++ exception may leave a slot.
 */
typedef struct TilewrightPlugin {
    size_t struct_size;
    const TilewrightExtension *extensions;
    uint32_t abi_major;
    uint32_t abi_minor;
    /* Name and version of the plugin; live as long as the image. */
    TilewrightSlice (*name)(void);
    TilewrightSlice (*version)(void);
    /* The architecture of this number, from zero; empty past the last one. */
    TilewrightSlice (*architecture)(uint32_t index);
    /* Makes a target from its description. */
    TilewrightError *(*target_create)(TilewrightSlice description, TilewrightTarget **out);
    void (*target_destroy)(TilewrightTarget *target);
    /* {"families": [names], "instructions": [rows], "samples": [{"use": {"lanes": 32, "warps": 4,
     * "element_bits": 16}, "samples": [...]}, ...], "spellings": [{"family", "dialect", "attribute",
     * "braces", "parameters": [{"name", "words": [...]}, ...]}, ...]}; "samples" and "spellings" may
     * be left out */
    TilewrightError *(*target_info)(const TilewrightTarget *target, TilewrightBlob **out);
    /* {"spec": ..., "shape": [...]} gives {"layout": ...} */
    TilewrightError *(*resolve_family)(const TilewrightTarget *target, TilewrightSlice request,
                                       TilewrightBlob **out);
    /* A module and options give {"payloads": [...], "kernels": [...]} */
    TilewrightError *(*compile)(const TilewrightTarget *target, TilewrightSlice module,
                                TilewrightSlice options, TilewrightBlob **out);
    /* The bytes of a blob, which live until blob_destroy. */
    TilewrightSlice (*blob_bytes)(const TilewrightBlob *blob);
    void (*blob_destroy)(TilewrightBlob *blob);
    /* The parts of an error, which live until error_destroy; messages are empty past the last. */
    uint32_t (*error_code)(const TilewrightError *error);
    TilewrightSlice (*error_message)(const TilewrightError *error, uint32_t index);
    void (*error_destroy)(TilewrightError *error);
} TilewrightPlugin;

/*
 * The extension "devices": access to hardware. A plugin that has it puts it into the chain of its
 * table's extensions; its size is that of the whole struct. No slot may be null.
 *
 * The devices of a target are opened together and numbered from zero. Of one device no two calls
 * are made at once, of two devices they may be. They are closed before their target ends. Memory
 * and code are numbers that the plugin gives; free and unload ignore those that are none. Blobs and
 * errors are freed through the plugin's table.
 */
typedef struct TilewrightDeviceTable {
    TilewrightExtension extension;
    /* Opens the devices that this machine has of a target; there may be none. */
    TilewrightError *(*open)(const TilewrightTarget *target, TilewrightDevices **out);
    void (*close)(TilewrightDevices *devices);
    /* What a device calls itself; lives until close, empty past the last one. */
    TilewrightSlice (*device_name)(const TilewrightDevices *devices, uint32_t device);
    /* Memory of zeros. */
    TilewrightError *(*allocate)(const TilewrightDevices *devices, uint32_t device, uint64_t bytes,
                                 uint64_t *buffer);
    void (*free)(const TilewrightDevices *devices, uint32_t device, uint64_t buffer);
    TilewrightError *(*write)(const TilewrightDevices *devices, uint32_t device, uint64_t buffer,
                              uint64_t offset, TilewrightSlice bytes);
    /* The blob is the bytes as they are. */
    TilewrightError *(*read)(const TilewrightDevices *devices, uint32_t device, uint64_t buffer,
                             uint64_t offset, uint64_t bytes, TilewrightBlob **out);
    /* Makes the kernels of what compile gave ready to run. */
    TilewrightError *(*load)(const TilewrightDevices *devices, uint32_t device,
                             TilewrightSlice artifact, uint64_t *code);
    void (*unload)(const TilewrightDevices *devices, uint32_t device, uint64_t code);
    /* {"code": 1, "kernel": "name", "grid": [1, 1, 1], "arguments": [{"buffer": 1}, {"scalar":
     * {"bits": 7, "width": 32}}, ...]} runs to its end and gives {"nanoseconds": 1234 or null} */
    TilewrightError *(*launch)(const TilewrightDevices *devices, uint32_t device,
                               TilewrightSlice request, TilewrightBlob **out);
} TilewrightDeviceTable;

/*
 * The extension "pieces": what target_info gives, piece by piece. A plugin with a long instruction
 * table has it, so that hosts need not read all of the table for one row.
 */
typedef struct TilewrightPieceTable {
    TilewrightExtension extension;
    /* {"pieces": ["families", "samples", "instructions", {"instructions_of": "matrix"}]}, of which
     * the request names some, gives what target_info gives, with at least these pieces: names and
     * spellings of families; their samples; the instruction table and what no row of it stands
     * for; the rows of one kind. */
    TilewrightError *(*target_pieces)(const TilewrightTarget *target, TilewrightSlice request,
                                      TilewrightBlob **out);
} TilewrightPieceTable;

/* The type of the entry symbol. It returns null where the plugin cannot serve the host's major
 * version. It may be called many times; it keeps the host's table at most, and allocates nothing. */
typedef const TilewrightPlugin *(*TilewrightPluginQuery)(uint32_t host_major, uint32_t host_minor,
                                                         const TilewrightHost *host);

/* For the one definition in a plugin: TILEWRIGHT_PLUGIN_EXPORT const TilewrightPlugin *
 * tilewright_plugin_query(uint32_t host_major, uint32_t host_minor, const TilewrightHost *host) */
#if defined(__GNUC__)
#define TILEWRIGHT_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define TILEWRIGHT_PLUGIN_EXPORT
#endif

#ifdef __cplusplus
}
#endif

#endif /* TILEWRIGHT_PLUGIN_H */
