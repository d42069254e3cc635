/* SPDX-License-Identifier: GPL-2.0-or-later */
// Copies texts to the clipboard.
import { announce, append, button, el } from "./dom";

// The clipboard is missing in pages that were opened as files in some browsers: show the text, so
// that the user can copy it.
function showText(text: string): void {
  const area = el("textarea", { readonly: true, "aria-label": "Text to copy", rows: 20 });
  area.value = text;
  const dialog = el("dialog", { class: "copy", onclose: () => dialog.remove() }) as HTMLDialogElement;
  append(dialog, el("p", {}, "The browser does not allow access to the clipboard. Copy this text:"), area,
    button("Close", () => dialog.close()));
  document.body.append(dialog);
  dialog.showModal();
  area.select();
}

function notice(text: string): void {
  const box = el("div", { class: "notice" }, text);
  document.body.append(box);
  setTimeout(() => box.remove(), 1800);
  announce(text);
}

export async function copyText(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    notice(`Copied ${text.length} characters`);
  } catch {
    showText(text);
  }
}

export function showNotice(text: string): void {
  notice(text);
}
