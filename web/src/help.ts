/* SPDX-License-Identifier: GPL-2.0-or-later */
// The list of keys.
import { button, el } from "./dom";

const KEYS: readonly (readonly [string, string])[] = [
  ["1 … 6", "tabs: flame graph, table, function, source, quality, record"],
  ["/", "search functions; Enter and Shift+Enter show the next and previous match"],
  ["+ Filter or F", "add a filter"],
  ["t", "light or dark page"],
  ["c", "short or full names of C++ functions"],
  ["i", "flame graph upwards or downwards"],
  ["Arrow keys", "flame graph: caller, heaviest callee, neighbours; timeline: move the range, with Shift change its length"],
  ["Enter", "flame graph: zoom to the frame; source: follow the jump"],
  ["Escape", "zoom out; clear the range; close"],
  ["+ −", "flame graph: zoom in and out; also Ctrl and the mouse wheel; drag to move"],
  ["f, s", "flame graph: callers and callees, source of the selected frame"],
  ["n, p, h", "source: next, previous and hottest line"],
  ["?", "this list"],
];

export function showHelp(): void {
  const dialog = el("dialog", { class: "help", "aria-label": "Keys", onclose: () => dialog.remove() }) as HTMLDialogElement;
  dialog.append(el("h2", {}, "Keys"), el("dl", {}, ...KEYS.flatMap(([key, text]) =>
    [el("dt", {}, el("kbd", {}, key)), el("dd", {}, text)])), button("Close", () => dialog.close()));
  document.body.append(dialog);
  dialog.showModal();
}
