#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kcachegrind.sh FILE PICTURE ASKED: opens a callgrind file in KCachegrind, shows the call graph
# of the function with the most samples, saves a screenshot as PICTURE, and saves in ASKED what
# KCachegrind sent to Graphviz. Runs under xvfb-run and dbus-run-session, with its own HOME; the
# screen is 1280x800.
set -u
file=$1 picture=$2 asked=$3
tools=$(mktemp -d)
real=$(command -v dot)
# KCachegrind runs dot to lay out its graph; this wrapper saves the input.
printf '#!/bin/bash\ntee -a %q | %q "$@"\n' "$asked" "$real" >"$tools/dot"
chmod +x "$tools/dot"
PATH=$tools:$PATH kcachegrind -qwindowgeometry 1280x800+0+0 "$file" &
shown=$!
trap 'kill "$shown" 2>/dev/null; rm -r "$tools"' EXIT

click()
{
	xdotool mousemove "$1" "$2" click 1
}

# Close the tip of the day, select the second line and open the tab, repeatedly until a graph was
# drawn, because the machine can be slow.
for ((i = 0; i < 60; i++)); do
	sleep 1
	click 798 499
	click 230 158
	click 521 757
	[ ! -s "$asked" ] || break
done
sleep 3
click 521 757
sleep 1
import -window root "$picture"
[ -s "$asked" ]
