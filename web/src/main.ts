/* SPDX-License-Identifier: GPL-2.0-or-later */
// Starts the page with the data that it contains, or with that of its server.
import { App } from "./app";
import { el, fill } from "./dom";
import { decodeDocument, FileSource } from "./file_source";
import { HttpSource } from "./http_source";
import { Source } from "./types";
import { errorBox, showError } from "./view";

async function sourceOf(): Promise<Source> {
  const data = document.getElementById("oprofile-data");
  if (!data)
    return new HttpSource();
  const text = data.textContent ?? "";
  data.remove(); // Several megabytes that are not needed again.
  return new FileSource(await decodeDocument(text));
}

async function start(root: HTMLElement): Promise<void> {
  try {
    const source = await sourceOf();
    const app = new App(source, await source.info(), root);
    (window as unknown as { oprofileView: App }).oprofileView = app; // for tests
    document.documentElement.dataset.ready = "1";
  } catch (e) {
    const box = errorBox();
    fill(root, el("h1", {}, "oprofile view"), box);
    showError(box, e);
  }
}

void start(document.getElementById("app") as HTMLElement);
