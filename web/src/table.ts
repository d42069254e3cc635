/* SPDX-License-Identifier: GPL-2.0-or-later */
// A table of the selection, by any keys.
import { append, button, choice, el, fill } from "./dom";
import { brief, csvCell, grouped, percent, points } from "./format";
import { selectionKey, State, toggleFilter } from "./state";
import { Filter, FILTERS, Table, TableRow } from "./types";
import { Context, errorBox, Loader, View } from "./view";

const ROWS = 100;
const USUAL = ["symbol,image", "symbol", "image", "comm", "pid", "tid", "cpu", "cgroup", "comm,symbol",
  "image,symbol,comm"];

export class TableTab implements View {
  readonly root = el("section", { class: "table-tab", "aria-label": "Table" });
  private readonly error = errorBox();
  private readonly loader = new Loader(this.root, this.error);
  private readonly keys;
  private readonly custom: HTMLInputElement;
  private readonly table = el("table");
  private readonly pager = el("div", { class: "pager" });
  private readonly empty = el("p", { class: "empty", hidden: true }, "No samples match the filters.");

  constructor(private readonly context: Context) {
    const { source, store } = context, known = USUAL.filter((keys) =>
      keys.split(",").every((key) => source.keys.includes(key)));
    this.keys = choice("Rows by", known.map((keys) => [keys, keys.replace(/,/g, ", ")] as const),
      (keys) => store.set({ keys, page: 0 }), { id: "keys" });
    this.custom = el("input", {
      id: "custom-keys", size: 18, "aria-label": `Keys of the rows: ${source.keys.join(", ")}`,
      title: `Keys, separated by commas: ${source.keys.join(", ")}`, placeholder: "other keys",
      onchange: () => this.customKeys(),
    });
    append(this.root, el("div", { class: "toolbar", role: "toolbar", "aria-label": "Table" },
      this.keys.root, this.custom, this.pager), this.error, this.empty,
    el("div", { class: "table-scroll", tabindex: 0, role: "group", "aria-label": "Rows" }, this.table));
  }

  private customKeys(): void {
    const keys = this.custom.value.split(/[\s,]+/).filter(Boolean).join(",");
    if (keys)
      this.context.store.set({ keys, page: 0 });
  }

  update(state: State): void {
    const { context } = this;
    const known = [...this.keys.select.options].some((option) => option.value === state.keys);
    this.keys.select.selectedIndex = -1;
    if (known)
      this.keys.set(state.keys);
    this.custom.value = known ? "" : state.keys;
    const key = `${state.keys} ${state.sort} ${state.page}?${selectionKey(state.sel)}#${context.generation}`;
    this.loader.load(key, (signal) => context.source.table(state.sel,
      { by: state.keys, sort: state.sort, top: ROWS, from_row: state.page * ROWS }, signal),
    (table) => this.show(table, context.store.state));
  }

  private columns(): [string, string][] {
    return this.context.info.compare
      ? [["self", "Self"], ["total", "Total"], ["delta", "Change"]] : [["self", "Self"], ["total", "Total"]];
  }

  private show(table: Table, state: State): void {
    const head = el("tr");
    for (const [sort, title] of this.columns())
      append(head, this.heading(sort, title, state, "n"));
    table.keys.forEach((key, i) => append(head, i ? el("th", { scope: "col" }, key)
      : this.heading("name", key, state, "")));
    fill(this.table, el("caption", { class: "unseen" }, `Samples by ${table.keys.join(", ")}`),
      el("thead", {}, head), el("tbody", {}, ...table.rows.map((row) => this.row(row, table, state))));
    this.empty.hidden = table.samples > 0;
    this.showPager(table, state);
    this.root.dataset.ready = "1";
  }

  private heading(sort: string, title: string, state: State, kind: string): HTMLElement {
    const on = state.sort === sort, th = el("th", {
      scope: "col", class: kind, "aria-sort": on ? sort === "name" ? "ascending" : "descending" : "none",
    });
    append(th, button(title, () => this.context.store.set({ sort, page: 0 }),
      { title: `Sort by ${title.toLowerCase()}`, "data-sort": sort }),
    el("span", { class: "arrow", "aria-hidden": "true" }, on ? sort === "name" ? " ▲" : " ▼" : ""));
    return th;
  }

  private number(value: number, all: number): HTMLElement {
    const td = el("td", { class: "n bar", title: grouped(value) }, `${brief(value)} `,
      el("span", { class: "share" }, percent(value, all)));
    td.style.setProperty("--share", `${(all ? Math.min(1, value / all) * 100 : 0).toFixed(2)}%`);
    return td;
  }

  private row(row: TableRow, table: Table, state: State): HTMLElement {
    const { store, info } = this.context, cells: HTMLElement[] =
      [this.number(row.self, table.samples), this.number(row.total, table.samples)];
    if (info.compare)
      cells.push(this.change(row, table));
    const symbolAt = table.keys.indexOf("symbol"), imageAt = table.keys.indexOf("image");
    table.keys.forEach((key, i) => {
      const value = row.values[i] ?? "", td = el("td", { class: key === "symbol" ? "name" : "value" });
      const shown = key === "symbol" && state.full && row.full ? row.full : value;
      if (key === "symbol")
        append(td, button(shown, () => this.context.showFunction(row.full ?? value,
          imageAt < 0 ? "" : row.values[imageAt]), { class: "link", title: row.full ?? value }));
      else if (FILTERS.includes(key as Filter))
        append(td, button(shown || "–", () => store.select(toggleFilter(store.state.sel, key as Filter, value)),
          { class: "link", title: `Show only ${key} ${value}` }));
      else
        append(td, shown);
      cells.push(td);
    });
    const chosen = symbolAt >= 0 && state.symbol !== "" &&
      (row.full ?? row.values[symbolAt]) === state.symbol &&
      (imageAt < 0 || row.values[imageAt] === state.image);
    return el("tr", { class: chosen ? "chosen" : "" }, ...cells);
  }

  private change(row: TableRow, table: Table): HTMLElement {
    const { base, new: other } = row, { info } = this.context;
    const sums = info as unknown as { base?: { samples?: number }; new?: { samples?: number } };
    const baseAll = sums.base?.samples || table.samples / 2, newAll = sums.new?.samples || table.samples / 2;
    const change = (other ?? 0) / newAll - (base ?? 0) / baseAll;
    const interval = row.interval ? `${row.interval[0].toFixed(2)} to ${row.interval[1].toFixed(2)} points` : "";
    return el("td", {
      class: `n change ${change > 0 ? "more" : change < 0 ? "less" : ""}`,
      title: `base ${grouped(base ?? 0)}, new ${grouped(other ?? 0)}${interval ? `; 95 %: ${interval}` : ""}`,
    }, `${points(change)} `, row.verdict ? el("span", { class: "verdict" }, row.verdict) : null);
  }

  private showPager(table: Table, state: State): void {
    const { store } = this.context, first = state.page * ROWS;
    const pages = Math.ceil(table.rows_total / ROWS);
    fill(this.pager, el("span", {}, table.rows_total
      ? `${grouped(first + 1)}–${grouped(first + table.rows.length)} of ${grouped(table.rows_total)}` : ""),
    pages > 1 && button("Previous", () => store.set({ page: state.page - 1 }), { disabled: state.page === 0 }),
    pages > 1 && button("Next", () => store.set({ page: state.page + 1 }), { disabled: state.page + 1 >= pages }));
  }

  copies(): { name: string; text(): Promise<string> }[] {
    const { source, store } = this.context;
    return [
      { name: "Table as text", text: () => source.text(store.state.sel, "text", store.state.keys) },
      { name: "Table as CSV", text: () => source.text(store.state.sel, "csv", store.state.keys) },
      { name: "This page as CSV", text: async () => this.pageAsCsv() },
      { name: "Folded stacks", text: () => source.text(store.state.sel, "folded", "") },
    ];
  }

  private pageAsCsv(): string {
    return [...this.table.rows].map((row) => [...row.cells].map((cell) =>
      csvCell(cell.title || cell.querySelector("button")?.title || cell.textContent || "")).join(",")).join("\r\n");
  }
}
