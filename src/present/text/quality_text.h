/* quality_text.h - the trust report behind a profile: `--quality`.
 * Layer: present. */
#pragma once
#include <stdio.h>

struct json;
struct profile;

/* Lines under a text report.  0 or -ENOMEM. */
int quality_write_text(FILE *out, struct profile *p);
/* The member "quality" of an object.  0 or -ENOMEM. */
int quality_write_json(struct json *j, struct profile *p);
