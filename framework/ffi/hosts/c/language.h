/* A tile language: `tile SIZE`, then lines `name = expression` over f32 with + - * ( ) names and numbers. */
#ifndef LANGUAGE_H
#define LANGUAGE_H

#include <stddef.h>

/* Translates a program of the language to Triton's IR: a kernel `tile` that takes a pointer for each input, one for each
 * assigned name, and the number of elements, a multiple of 16. The caller frees the text; null, with a message, if the
 * program is malformed. */
char *translate(const char *program, char *message, size_t size);

#endif
