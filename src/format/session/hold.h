/* hold.h - readers of a session that is recorded meanwhile: parts that were merged stay as long as
 * somebody reads who may have listed them.
 * Layer: format. */
#pragma once
#include <stdbool.h>

/* A descriptor, to be closed when nothing more is read below `dir`; -1 where there are no such locks, or no
 * such folder. */
int session_hold(const char *dir);
/* Whether anybody holds it. */
bool session_is_held(const char *dir);
