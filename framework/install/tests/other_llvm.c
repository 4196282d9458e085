/* A host that is linked to an LLVM of its own, of another major version than the plugins': it makes a module before and after Tilewright
 * compiles for two targets, and both are whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tilewright.h>

/* Of LLVM's C interface, which is the same in all its versions. */
typedef struct LLVMOpaqueModule *LLVMModuleRef;
extern LLVMModuleRef LLVMModuleCreateWithName(const char *name);
extern void LLVMSetTarget(LLVMModuleRef module, const char *triple);
extern char *LLVMPrintModuleToString(LLVMModuleRef module);
extern void LLVMDisposeMessage(char *message);
extern void LLVMDisposeModule(LLVMModuleRef module);

static int check(tw_error *error) {
    if (!error) return 0;
    fprintf(stderr, "error %u: %s\n", tw_error_code(error), tw_error_message(error));
    tw_error_destroy(error);
    return 1;
}

static void own(const char *name) {
    LLVMModuleRef module = LLVMModuleCreateWithName(name);
    char *text;
    LLVMSetTarget(module, "x86_64-unknown-linux-gnu");
    text = LLVMPrintModuleToString(module);
    printf("%s", text);
    LLVMDisposeMessage(text);
    LLVMDisposeModule(module);
}

int main(int count, char **arguments) {
    static char program[1 << 16];
    tw_session *session = NULL;
    FILE *file = count > 1 ? fopen(arguments[1], "r") : NULL;
    size_t length;
    int target;
    if (!file) return 2;
    length = fread(program, 1, sizeof program, file);
    fclose(file);
    own("before");
    if (check(tw_session_create(NULL, 0, NULL, NULL, &session))) return 1;
    for (target = 2; target < count; target++) {
        tw_code *code = NULL;
        const char *text = NULL;
        size_t size = 0;
        if (check(tw_compile(session, arguments[target], program, length, NULL, 0, &code))) return 1;
        if (check(tw_code_bytes(code, "asm", &text, &size, NULL))) return 1;
        printf("%.*s\n", (int)size, text);
        tw_code_destroy(code);
    }
    tw_session_destroy(session);
    own("after");
    return 0;
}
