# SPDX-License-Identifier: GPL-2.0-or-later
# Checks of stacks of the workload `bare`.

# expect_bare_callers FOLDED: the caller of bare_NAME is call_NAME in nearly all stacks, except
# where nothing proves it.
expect_bare_callers()
{
	awk '{
		n = $NF
		if (!match($0, /bare_[a-z_]*/))
			next
		name = substr($0, RSTART + 5, RLENGTH - 5)
		all[name] += n
		if (name == "unproved")
			good[name] += n * /;\[truncated\];bare_unproved/
		else if (name == "outer")
			good[name] += n * /_start;.*;main;call_outer;bare_outer[; ]/
		else
			good[name] += n * ($0 ~ "_start;.*;main;call_" name ";(jump_to_tail;)?bare_" name "[; ]")
	} END {
		for (name in all) {
			print name, all[name], good[name]
			nr++
			bad += good[name] < 0.95 * all[name]
		}
		exit !(nr == 10 && !bad)
	}' "$1"
}
