#include "language.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 16, MOST_NAME = 32 };

typedef struct {
    const char *at;
    int line;
    char *message;
    size_t size;
    int failed;
    /* What is written, and how much room there is. */
    char *text;
    size_t used, room;
    int values; /* %v0, %v1, ... */
    char names[MOST_NAMES][MOST_NAME];
    int value_of[MOST_NAMES]; /* the value that has the name, -1 before */
    int assigned[MOST_NAMES];
    int count;
    int tile;
} Translation;

static void fail(Translation *t, const char *what) {
    if (!t->failed) snprintf(t->message, t->size, "line %d: %s", t->line, what);
    t->failed = 1;
}

static void say(Translation *t, const char *format, ...) {
    va_list arguments;
    for (;;) {
        int length;
        va_start(arguments, format);
        length = vsnprintf(t->text + t->used, t->room - t->used, format, arguments);
        va_end(arguments);
        if (length >= 0 && (size_t)length < t->room - t->used) {
            t->used += (size_t)length;
            return;
        }
        t->room *= 2;
        t->text = realloc(t->text, t->room);
        if (!t->text) abort();
    }
}

static void skip(Translation *t) {
    while (*t->at == ' ' || *t->at == '\t') t->at++;
}

/* Returns the number of a name; adds the name if it is new. */
static int name(Translation *t) {
    char word[MOST_NAME];
    int length = 0, index;
    while ((isalnum((unsigned char)*t->at) || *t->at == '_') && length < MOST_NAME - 1) word[length++] = *t->at++;
    word[length] = 0;
    for (index = 0; index < t->count; index++)
        if (!strcmp(t->names[index], word)) return index;
    if (t->count == MOST_NAMES) {
        fail(t, "too many names");
        return 0;
    }
    strcpy(t->names[t->count], word);
    t->value_of[t->count] = -1;
    return t->count++;
}

/* An input is loaded at its first use: its pointer is the argument of its name. */
static int load(Translation *t, int index) {
    int size = t->tile;
    if (t->value_of[index] < 0) {
        const char *word = t->names[index];
        say(t, "    %%%s.base = tt.splat %%%s : !tt.ptr<f32> -> tensor<%dx!tt.ptr<f32>>\n", word, word, size);
        say(t, "    %%%s.at = tt.addptr %%%s.base, %%places : tensor<%dx!tt.ptr<f32>>, tensor<%dxi32>\n", word, word, size, size);
        say(t, "    %%v%d = tt.load %%%s.at, %%mask, %%zero : tensor<%dx!tt.ptr<f32>>\n", t->values, word, size);
        t->value_of[index] = t->values++;
    }
    return t->value_of[index];
}

static int sum(Translation *t);

static int factor(Translation *t) {
    skip(t);
    if (*t->at == '(') {
        int value;
        t->at++;
        value = sum(t);
        skip(t);
        if (*t->at == ')') t->at++;
        else fail(t, "expected `)`");
        return value;
    }
    if (isdigit((unsigned char)*t->at)) {
        char *end;
        double number = strtod(t->at, &end);
        t->at = end;
        say(t, "    %%v%d = arith.constant dense<%e> : tensor<%dxf32>\n", t->values, number, t->tile);
        return t->values++;
    }
    if (isalpha((unsigned char)*t->at)) return load(t, name(t));
    fail(t, "expected a name, a number or `(`");
    return 0;
}

static int operation(Translation *t, const char *word, int left, int right) {
    say(t, "    %%v%d = arith.%s %%v%d, %%v%d : tensor<%dxf32>\n", t->values, word, left, right, t->tile);
    return t->values++;
}

static int product(Translation *t) {
    int value = factor(t);
    for (skip(t); *t->at == '*' && !t->failed; skip(t)) {
        t->at++;
        value = operation(t, "mulf", value, factor(t));
    }
    return value;
}

static int sum(Translation *t) {
    int value = product(t);
    for (skip(t); (*t->at == '+' || *t->at == '-') && !t->failed; skip(t)) {
        const char *word = *t->at++ == '+' ? "addf" : "subf";
        value = operation(t, word, value, product(t));
    }
    return value;
}

static void line(Translation *t) {
    skip(t);
    if (*t->at == '#' || *t->at == '\n' || *t->at == 0) return;
    if (!strncmp(t->at, "tile ", 5)) {
        t->tile = atoi(t->at + 5);
        while (*t->at && *t->at != '\n') t->at++;
        if (t->tile <= 0) fail(t, "a tile has a size above zero");
        return;
    }
    if (!t->tile) {
        fail(t, "write `tile SIZE` first");
    } else if (!isalpha((unsigned char)*t->at)) {
        fail(t, "expected a name to assign");
    } else {
        int index = name(t);
        skip(t);
        if (*t->at++ != '=') fail(t, "expected `=`");
        else {
            t->value_of[index] = sum(t);
            t->assigned[index] = 1;
        }
    }
    skip(t);
    if (!t->failed && *t->at && *t->at != '\n' && *t->at != '#') fail(t, "expected the end of the line");
}

static void lines(Translation *t) {
    for (t->line = 1; !t->failed; t->line++) {
        line(t);
        while (*t->at && *t->at != '\n') t->at++;
        if (!*t->at++) return;
    }
}

static void stores(Translation *t) {
    int index;
    for (index = 0; index < t->count; index++) {
        const char *word = t->names[index];
        if (!t->assigned[index]) continue;
        say(t, "    %%%s.out = tt.splat %%%s : !tt.ptr<f32> -> tensor<%dx!tt.ptr<f32>>\n", word, word, t->tile);
        say(t, "    %%%s.to = tt.addptr %%%s.out, %%places : tensor<%dx!tt.ptr<f32>>, tensor<%dxi32>\n", word, word, t->tile, t->tile);
        say(t, "    tt.store %%%s.to, %%v%d, %%mask : tensor<%dx!tt.ptr<f32>>\n", word, t->value_of[index], t->tile);
    }
}

char *translate(const char *program, char *message, size_t size) {
    Translation body = {0}, whole = {0};
    int index;
    body.at = program, body.message = message, body.size = size;
    body.room = 1024, body.text = calloc(1, body.room);
    if (!body.text) abort();
    lines(&body);
    if (!body.failed && !body.count) fail(&body, "the program assigns nothing");
    if (body.failed) {
        free(body.text);
        return NULL;
    }
    stores(&body);
    whole.room = 1024, whole.text = calloc(1, whole.room);
    if (!whole.text) abort();
    say(&whole, "module {\n  tt.func public @tile(");
    for (index = 0; index < body.count; index++)
        say(&whole, "%%%s: !tt.ptr<f32> {tt.divisibility = 16 : i32}, ", body.names[index]);
    say(&whole, "%%count: i32 {tt.divisibility = 16 : i32}) {\n");
    say(&whole, "    %%size = arith.constant %d : i32\n", body.tile);
    say(&whole, "    %%zero = arith.constant dense<0.0> : tensor<%dxf32>\n", body.tile);
    say(&whole, "    %%program = tt.get_program_id x : i32\n");
    say(&whole, "    %%first = arith.muli %%program, %%size : i32\n");
    say(&whole, "    %%range = tt.make_range {start = 0 : i32, end = %d : i32} : tensor<%dxi32>\n", body.tile, body.tile);
    say(&whole, "    %%firsts = tt.splat %%first : i32 -> tensor<%dxi32>\n", body.tile);
    say(&whole, "    %%places = arith.addi %%firsts, %%range : tensor<%dxi32>\n", body.tile);
    say(&whole, "    %%counts = tt.splat %%count : i32 -> tensor<%dxi32>\n", body.tile);
    say(&whole, "    %%mask = arith.cmpi slt, %%places, %%counts : tensor<%dxi32>\n", body.tile);
    say(&whole, "%s    tt.return\n  }\n}\n", body.text);
    free(body.text);
    return whole.text;
}
