/* write_xml_bytes.c - the table of bytes of opreport --xml --details: the code of functions. */
#include <stdlib.h>

#include "present/write_xml.h"
#include "resolve/code.h"
#include "resolve/symtab.h"

enum {
	CODE_MAX = 1 << 16 /* bytes of a function */
};

void xml_put_bytes(FILE *out, struct code *code, uint64_t start, size_t id, bool *begun)
{
	uint64_t from;
	const struct symbol *s = code_symbol(code, start, &from);
	size_t len = s && from == start && s->size < CODE_MAX ? (size_t)s->size : 0;
	uint8_t *bytes = len ? malloc(len) : NULL;

	if (bytes)
		len = code_bytes(code, start, bytes, len);
	if (bytes && len) {
		if (!*begun)
			fputs("<bytestable>\n", out);
		*begun = true;
		fprintf(out, "<bytes  id=\"%zu\">", id);
		for (size_t i = 0; i < len; i++)
			fprintf(out, "%02X", bytes[i]);
		fputs("</bytes>\n", out);
	}
	free(bytes);
}
