/* A host that links nothing: it loads the library, lists the targets from several threads' worth of sessions, and reads a layout
 * that is wrong. */
#include <tilewright_loader.h>

int main(int count, char **arguments) {
    char message[512];
    tw_api tw;
    tw_session *session = NULL;
    tw_names *targets = NULL;
    tw_layout *layout = NULL;
    tw_error *error;
    const uint64_t shape[] = {8, 8};
    size_t index;
    if (!tw_api_load(&tw, count > 1 ? arguments[1] : NULL, message, sizeof message)) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    if (tw.session_create(NULL, 0, NULL, NULL, &session) || tw.session_targets(session, &targets)) return 1;
    for (index = 0; index < tw.names_count(targets); index++) printf("%s\n", tw.names_at(targets, index));
    error = tw.layout_read(session, NULL, "#ttg.blocked<{", shape, 2, &layout);
    if (!error || layout) return 1;
    printf("wrong: %u %u:%u %s\n", tw.error_code(error), tw.error_line(error), tw.error_column(error), tw.error_message(error));
    tw.error_destroy(error);
    tw.names_destroy(targets);
    tw.session_destroy(session);
    return 0;
}
