/* SPDX-License-Identifier: GPL-2.0-or-later */
// Starts the page with the data that it contains, or with that of its server.
import { decodeDocument, FileSource } from "./file_source";
import { HttpSource } from "./http_source";
import { Source } from "./types";

async function sourceOf(): Promise<Source> {
  const data = document.getElementById("oprofile-data");
  return data ? new FileSource(await decodeDocument(data.textContent ?? "")) : new HttpSource();
}

sourceOf().then((source) => source.info()).then((info) => {
  document.title = info.title;
}).catch(console.error);
