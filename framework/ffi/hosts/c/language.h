/* A tile language: `tile SIZE`, then lines `name = expression` over f32 with + - * ( ) names and numbers. */
#ifndef LANGUAGE_H
#define LANGUAGE_H

#include <stddef.h>

/* Translates a program of the language to Triton's IR: a kernel `tile` that takes a pointer for each input, one for each
 * name that is assigned, and the number of elements, a multiple of 16. The text is freed by the caller; null, with a message, where the
 * program is wrong. */
char *translate(const char *program, char *message, size_t size);

#endif
