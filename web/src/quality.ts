/* SPDX-License-Identifier: GPL-2.0-or-later */
// The measures of a recording's reliability, each with its remedy.
import { append, button, el, fill } from "./dom";
import { baseName, brief, csvCell, percent } from "./format";
import { selectionKey, State, toggleFilter } from "./state";
import { Quality } from "./types";
import { Context, errorBox, Loader, View } from "./view";

const SIGNS = { good: ["✓", "good"], note: ["!", "note"], bad: ["✗", "bad"] } as const;

export class QualityTab implements View {
  readonly root = el("section", { class: "quality-tab", "aria-label": "Quality" });
  private readonly error = errorBox();
  private readonly loader = new Loader(this.root, this.error);
  private readonly rows = el("tbody");
  private readonly images = el("tbody");
  private readonly imageTable: HTMLElement;
  private readonly warnings = el("ul", { class: "warnings" });
  private answer: Quality = { rows: [], images: [] };

  constructor(private readonly context: Context) {
    const heads = (...titles: string[]) => el("thead", {}, el("tr", {},
      ...titles.map((title) => el("th", { scope: "col" }, title))));
    this.imageTable = el("div", {}, el("h3", {}, "Binaries without symbols or unwind tables"),
      el("table", {}, heads("Samples", "Binary", "Reason", "Remedy"), this.images));
    append(this.root, this.error, el("div", { class: "quality-scroll", tabindex: 0, role: "group", "aria-label": "Quality" },
      el("h3", {}, "Can this recording be trusted?"),
      el("table", {}, heads("", "Measure", "Value", "Remedy"), this.rows), this.imageTable, this.warnings));
  }

  update(state: State): void {
    const { context } = this;
    this.loader.load(`${selectionKey(state.sel)}#${context.generation}`, (signal) =>
      context.source.quality(state.sel, signal), (answer) => this.show(answer));
  }

  private show(answer: Quality): void {
    const { store, info } = this.context, all = info.samples;
    this.answer = answer;
    fill(this.rows, ...answer.rows.map(({ what, value, share, fix, severity }) => {
      const [sign, text] = SIGNS[severity] ?? SIGNS.note;
      return el("tr", { class: severity }, el("td", { class: "sign" }, el("span", { "aria-hidden": "true" }, sign),
        el("span", { class: "unseen" }, text)), el("td", {}, what),
      el("td", { class: "n" }, `${value}${share !== undefined && !String(value).includes("%") ? ` (${(share * 100).toFixed(2)} %)` : ""}`),
      el("td", {}, fix ?? ""));
    }));
    fill(this.images, ...answer.images.map(({ image, samples, build_id: id, why, fix }) => el("tr", {},
      el("td", { class: "n" }, `${brief(samples)} `, el("span", { class: "share" }, percent(samples, all))),
      el("td", { class: "name" }, button(baseName(image), () =>
        store.select(toggleFilter(store.state.sel, "image", image)), { class: "link", title: `${image}${id ? ` (build-id ${id})` : ""}` })),
      el("td", {}, why ?? ""), el("td", {}, fix ?? ""))));
    this.imageTable.hidden = !answer.images.length;
    fill(this.warnings, ...(info.warnings ?? []).map((text) => el("li", {}, text)));
    this.root.dataset.ready = "1";
  }

  copies(): { name: string; text(): Promise<string> }[] {
    const rows = () => [
      ...this.answer.rows.map(({ what, value, fix }) => [what, String(value), fix ?? ""]),
      ...this.answer.images.map(({ image, samples, why, fix }) => [image, String(samples), [why, fix].filter(Boolean).join(". ")]),
    ];
    return [
      { name: "Quality as text", text: async () => rows().map((row) => row.join("\t")).join("\n") + "\n" },
      { name: "Quality as CSV", text: async () => rows().map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n" },
    ];
  }
}
