/* SPDX-License-Identifier: GPL-2.0-or-later */
// The filters of the selection: chips that can be removed, and a menu of values with their samples.
import { append, button, choice, el, fill, later } from "./dom";
import { baseName, brief, moment, percent } from "./format";
import { selectionKey, State, toggleFilter, withFilter } from "./state";
import { Filter, FILTERS, Values } from "./types";
import { Context, errorBox, Loader, View } from "./view";

const TITLES: Record<Filter, string> = {
  comm: "Command", pid: "Process", tid: "Thread", cpu: "CPU", cgroup: "Control group", image: "Binary",
  symbol: "Function (own code)", through: "Function on the stack",
};
const VALUES = 200;

export class FilterBar implements View {
  readonly root = el("section", { class: "filters", "aria-label": "Filters" });
  private readonly chips = el("div", { class: "chips", role: "list", "aria-label": "Active filters" });
  private readonly text: HTMLInputElement;
  private readonly event;
  private readonly side;
  private readonly menu: Menu;
  private readonly reset: HTMLButtonElement;

  constructor(private readonly context: Context) {
    const { store } = context;
    const typed = later(() => store.select({ ...store.state.sel, text: this.text.value || undefined }, true), 180);
    this.text = el("input", {
      type: "search", id: "text", placeholder: "Text in stack",
      "aria-label": "Show only stacks with this text in the name of a function or binary",
      oninput: typed,
    });
    this.event = choice("Event", [], (event) =>
      store.select({ ...store.state.sel, event: event === context.info.events[0]?.name ? undefined : event }),
      { id: "event" });
    this.side = choice("Samples of", [["", "both"], ["base", "base"], ["new", "new"]], (side) =>
      store.select({ ...store.state.sel, side: side === "base" || side === "new" ? side : undefined }),
    { id: "side" });
    this.menu = new Menu(context);
    this.reset = button("Clear all", () => store.select({ filters: {}, event: store.state.sel.event }), { id: "clear" });
    append(this.root, el("span", { class: "menu-holder" }, this.menu.opener, this.menu.root), this.text, this.event.root,
      this.side.root, this.chips, this.reset);
  }

  openMenu(): void {
    this.menu.opener.click();
  }

  update(state: State): void {
    const { store } = this.context, { sel } = state, chips: HTMLElement[] = [];
    if (document.activeElement !== this.text)
      this.text.value = sel.text ?? "";
    this.showEvents();
    this.event.set(sel.event ?? this.context.info.events[0]?.name ?? "");
    this.side.set(sel.side ?? "");
    if (sel.from !== undefined || sel.to !== undefined)
      chips.push(this.chip("Time", `${moment(sel.from ?? 0, 1e7)} – ${sel.to === undefined ? "end" : moment(sel.to, 1e7)}`,
        () => store.select({ ...sel, from: undefined, to: undefined })));
    if (sel.text)
      chips.push(this.chip("Text", sel.text, () => store.select({ ...sel, text: undefined })));
    for (const name of FILTERS)
      for (const value of sel.filters[name] ?? [])
        chips.push(this.chip(TITLES[name], value, () => store.select(toggleFilter(store.state.sel, name, value))));
    fill(this.chips, ...chips);
    this.reset.hidden = !chips.length;
    this.menu.update(state);
  }

  // A recording that was started from this page brings new events.
  private showEvents(): void {
    const { events, compare } = this.context.info, { select } = this.event;
    this.event.root.hidden = events.length < 2;
    this.side.root.hidden = !compare;
    if ([...select.options].map((option) => option.value).join("\0") !== events.map((e) => e.name).join("\0"))
      fill(select, ...events.map((e) => el("option", { value: e.name }, e.name)));
  }

  private chip(title: string, value: string, remove: () => void): HTMLElement {
    return el("span", { class: "chip", role: "listitem", title: `${title}: ${value}` },
      el("span", { class: "dim" }, `${title}: `), el("span", { class: "value" }, value),
      button("×", remove, { "aria-label": `Remove the filter ${title} ${value}` }));
  }
}

class Menu {
  readonly opener: HTMLButtonElement;
  readonly root = el("div", { class: "menu", role: "dialog", "aria-label": "Add a filter", hidden: true });
  private readonly error = errorBox();
  private readonly loader = new Loader(this.root, this.error);
  private readonly list = el("ul", { class: "values" });
  private readonly prefix: HTMLInputElement;
  private readonly dimension;
  private of: Filter = "comm";

  constructor(private readonly context: Context) {
    this.opener = button("+ Filter", () => this.toggle(),
      { id: "add-filter", "aria-haspopup": "dialog", "aria-expanded": "false" });
    const { info } = context, known = FILTERS.filter((name) =>
      (name !== "cpu" || info.has_cpus !== false) && (name !== "cgroup" || info.has_cgroups !== false));
    this.dimension = choice("Filter by", known.map((name) => [name, TITLES[name]] as const), (of) => {
      this.of = of as Filter;
      this.update(context.store.state);
    }, { id: "filter-by" });
    this.prefix = el("input", {
      type: "search", id: "prefix", placeholder: "Search values", "aria-label": "Search values",
      oninput: later(() => this.update(context.store.state), 120),
    });
    append(this.root, this.dimension.root, this.prefix, this.error, this.list);
    this.root.addEventListener("keydown", (e) => {
      if (e.key === "Escape") {
        this.close();
        this.opener.focus();
        e.stopPropagation();
      }
    });
    document.addEventListener("pointerdown", (e) => {
      if (!this.root.hidden && !this.root.contains(e.target as Node) && e.target !== this.opener)
        this.close();
    });
  }

  private toggle(): void {
    if (!this.root.hidden) {
      this.close();
      return;
    }
    this.root.hidden = false;
    this.opener.setAttribute("aria-expanded", "true");
    this.update(this.context.store.state);
    this.prefix.focus();
  }

  private close(): void {
    this.root.hidden = true;
    this.opener.setAttribute("aria-expanded", "false");
  }

  update(state: State): void {
    if (this.root.hidden)
      return;
    const { context, of } = this, prefix = this.prefix.value;
    // The values of all samples that the other filters select.
    const sel = withFilter(state.sel, of, []);
    this.loader.load(`${of} ${prefix}?${selectionKey(state.sel)}#${context.generation}`, (signal) =>
      context.source.values(sel, of === "through" ? "symbol" : of, VALUES, prefix, signal),
    (values) => this.show(values));
  }

  private show(values: Values): void {
    const { of } = this, { store } = this.context, chosen = store.state.sel.filters[of] ?? [];
    const all = values.rows.reduce((sum, [, n]) => sum + n, 0);
    fill(this.list, ...(values.rows as [string, number, string?][]).map(([name, n, label]) => {
      const input = el("input", { type: "checkbox", checked: chosen.includes(name) });
      input.addEventListener("change", () => store.select(toggleFilter(store.state.sel, of, name)));
      const shown = label ?? (of === "image" ? baseName(name) : name);
      const row = el("li", {}, el("label", { title: name }, input, el("span", { class: "value" }, shown),
        el("span", { class: "n" }, `${brief(n)} `, el("span", { class: "share" }, percent(n, all)))));
      row.style.setProperty("--share", `${(all ? n / all * 100 : 0).toFixed(1)}%`);
      return row;
    }), !values.rows.length && el("li", { class: "dim" }, "No values."));
  }
}
