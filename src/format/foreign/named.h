/* SPDX-License-Identifier: GPL-2.0-or-later */
/* named.h - recognises formats that have no reader, so that error messages can name them.
 * Layer: format, private to it. */
#pragma once
#include <stdbool.h>

struct foreign_head;

/* Each function returns whether a file has the format, judged by its first bytes. */

/* ---- binary ---- */
bool foreign_is_pe(const struct foreign_head *head);
bool foreign_is_llvm_profile(const struct foreign_head *head);
bool foreign_is_gcov(const struct foreign_head *head);
bool foreign_is_gmon(const struct foreign_head *head);
bool foreign_is_jitdump(const struct foreign_head *head);
bool foreign_is_go_trace(const struct foreign_head *head);
bool foreign_is_gperftools_cpu(const struct foreign_head *head);
/* ---- text ---- */
bool foreign_is_heap_profile(const struct foreign_head *head);
bool foreign_is_go_text(const struct foreign_head *head);
bool foreign_is_massif(const struct foreign_head *head);
bool foreign_is_gprof_text(const struct foreign_head *head);
bool foreign_is_perf_report_text(const struct foreign_head *head);
bool foreign_is_perf_dump_text(const struct foreign_head *head);
bool foreign_is_opreport_text(const struct foreign_head *head);
bool foreign_is_bpftrace(const struct foreign_head *head);
bool foreign_is_perf_map(const struct foreign_head *head);
/* ---- markup and JSON ---- */
bool foreign_is_svg(const struct foreign_head *head);
bool foreign_is_markup(const struct foreign_head *head);
bool foreign_is_json(const struct foreign_head *head);
