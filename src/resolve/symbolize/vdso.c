/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vdso.c - symbolizes the vdso of a recording without its build-id. */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "resolve/symbolize/locations.h"
#include "resolve/symbolize/priv.h"

enum {
	VDSO_BYTES_MAX = 1 << 20
};

/* Returns the size up to the end of the section headers, which are its last part; 0: no vdso. */
static size_t naming_vdso_own_bytes(const ElfW(Ehdr) * header)
{
	uint64_t bytes;

	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	bytes = header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
	return bytes <= VDSO_BYTES_MAX ? (size_t)bytes : 0;
}

int naming_own_vdso(struct naming *n, const struct image *image, struct naming_entry *e)
{
	const ElfW(Ehdr) *own =
		(const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT(*-no-int-to-ptr) */
	size_t len = naming_vdso_own_bytes(own);
	int r;

	/* Do not use our vdso for a 32-bit process, which has a different one. */
	if (!len || image->build_id.len || image->end ||
	    naming_locations_root(n->locations)[0] || !naming_runs_here(n))
		return 0;
	r = symtab_load_elf_bytes(own, len, &e->tab, NULL);
	if (!r) {
		e->status = NAMING_UNVERIFIED;
		naming_set_from(e, "[vdso]");
	}
	return r == -ENOMEM ? r : 0;
}
