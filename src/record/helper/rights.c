/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/helper/rights.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"

static const unsigned int needed[] = {
	CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE,
	CAP_IPC_LOCK,        CAP_SYS_NICE,
	CAP_SYSLOG,          38 /* CAP_PERFMON */,
	39 /* CAP_BPF */,    40 /* CAP_CHECKPOINT_RESTORE */,
};

static uint64_t needed_mask(bool with_admin)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < COUNT_OF(needed); i++)
		mask |= 1ULL << needed[i];
	/* Kernels before 5.8 have no CAP_PERFMON (38). */
	if (with_admin || prctl(PR_CAPBSET_READ, 38, 0, 0, 0) < 0)
		mask |= 1ULL << CAP_SYS_ADMIN;
	return mask;
}

void rights_drop_bound(void)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
}

int rights_keep_needed(bool with_admin, struct err *err)
{
	struct __user_cap_header_struct header = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct data[2];
	uint64_t mask = needed_mask(with_admin);

	if (geteuid())
		return 0;
	/* Do this while CAP_SETPCAP is still set. */
	rights_drop_bound();
	if (syscall(SYS_capget, &header, data))
		return err_sys(err, -errno,
			       "cannot read the capabilities of this process");
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(mask >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data))
		return err_sys(err, -errno, "cannot drop capabilities");
	/* Programs that are executed cannot gain privileges either. */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return 0;
}
