#include "resolve/name_patterns_priv.h"

/* Made from stl.pat when the build is configured. */
const char name_patterns_stl[] =
#include "stl_pat.inc"
	;
