/* SPDX-License-Identifier: GPL-2.0-or-later */
// The flame graph of the selection.
import { Colouring, COLOURINGS } from "./colours";
import { append, button, choice, el, fill, later } from "./dom";
import { FlameModel } from "./flame_model";
import { FlameView } from "./flame_view";
import { amount, percent } from "./format";
import { selectionKey, State } from "./state";
import { Tree, TreeOrder } from "./types";
import { Context, errorBox, Loader, View } from "./view";

const MIN = 0.00002, LIMIT = 100000;

export class FlameTab implements View {
  readonly root = el("section", { class: "flame-tab", "aria-label": "Flame graph" });
  readonly graph: FlameView;
  private readonly error = errorBox();
  private readonly loader = new Loader(this.root, this.error);
  private readonly found = el("output", { class: "found", "aria-live": "polite" });
  private readonly legend = el("div", { class: "legend", role: "img" });
  private readonly status = el("div", { class: "status" });
  private readonly empty = el("p", { class: "empty", hidden: true }, "No samples match the filters.");
  private readonly search: HTMLInputElement;
  private readonly order;
  private readonly colours;
  private readonly reset: HTMLButtonElement;
  private readonly turn: HTMLButtonElement;
  private tree: Tree | null = null;
  private shown = "";

  constructor(private readonly context: Context) {
    const { store } = context;
    this.graph = new FlameView("Flame graph", {
      selected: (i) => this.selected(i),
      zoomed: (i) => store.set({ zoom: this.graph.model?.pathOf(i) ?? "" }),
      opened: (i, tab) => this.open(i, tab),
    });
    this.order = choice("Order", [["calls", "callees, heaviest left"], ["callers", "callers (inverted)"],
      ["time", "by time"]], (by) => store.set({ by: by as TreeOrder, zoom: "" }), { id: "order" });
    this.colours = choice("Colours", [...COLOURINGS, ...(context.info.compare
      ? [["change", "by change"] as const] : [])], (colour) => store.set({ colour }), { id: "colours" });
    const typed = later(() => store.set({ search: this.search.value }, true), 120);
    this.search = el("input", {
      type: "search", id: "search", placeholder: "Search functions ( / )",
      "aria-label": "Search functions: a text or regular expression", oninput: typed,
      onkeydown: (e: KeyboardEvent) => this.searchKey(e),
    });
    this.reset = button("Reset zoom", () => this.graph.zoom(0), { title: "Show all samples (Escape)" });
    this.turn = button("Upwards", () => store.set({ up: !store.state.up }),
      { "aria-pressed": "false", title: "Grow from the bottom to the top (i)" });
    append(this.root, el("div", { class: "toolbar", role: "toolbar", "aria-label": "Flame graph" },
      this.order.root, this.colours.root, this.turn, this.search, this.found, this.reset), this.error,
      this.empty, this.graph.root, el("footer", { class: "bottom" }, this.status, this.legend));
  }

  // Turns the graph, for the key "i".
  toggle(): void {
    this.turn.click();
  }

  focusSearch(): void {
    this.search.focus();
    this.search.select();
  }

  private searchKey(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      this.search.value = "";
      this.context.store.set({ search: "" }, true);
      this.graph.canvas.focus();
    } else if (event.key === "Enter") {
      this.nextMatch(event.shiftKey ? -1 : 1);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  // Selects the next match with visible width, or the previous one.
  nextMatch(by: number): void {
    const { model } = this.graph;
    if (!model)
      return;
    for (let k = 1; k <= model.n; k++) {
      const i = (this.graph.at + by * k + model.n * 2) % model.n;
      if (model.found[i] && this.graph.span(i)[1] >= 0.5) {
        this.graph.select(i);
        return;
      }
    }
  }

  private selected(i: number): void {
    const { model } = this.graph;
    if (!model)
      return;
    this.status.textContent = this.graph.describe(i);
    if (model.symbol[i] >= 0)
      this.context.store.set({ symbol: model.id(i), image: model.image(i) }, true);
  }

  private open(i: number, tab: "function" | "source"): void {
    const { model } = this.graph;
    if (model && model.symbol[i] >= 0)
      this.context.store.set({ symbol: model.id(i), image: model.image(i), tab });
  }

  update(state: State): void {
    const { context } = this;
    this.order.set(state.by);
    this.turn.setAttribute("aria-pressed", String(state.up));
    if (document.activeElement !== this.search)
      this.search.value = state.search;
    const key = `${state.by}?${selectionKey(state.sel)}#${context.generation}`;
    this.loader.load(key, (signal) => context.source.tree(state.sel, state.by, MIN, LIMIT, signal),
      (tree) => {
        this.tree = tree;
        this.shown = "";
        this.show(context.store.state);
      });
    if (this.tree)
      this.show(state);
  }

  private show(state: State): void {
    const { graph, tree } = this;
    if (!tree)
      return;
    const colour = state.colour || (this.context.info.compare ? "change" : "image");
    const shown = `${state.by} ${state.up} ${colour}`;
    if (shown !== this.shown || !graph.model) {
      const fresh = this.shown === "";
      this.shown = shown;
      const at = graph.model?.pathOf(graph.at) ?? "";
      const model = fresh || !graph.model ? new FlameModel(tree, state.by !== "time") : graph.model;
      graph.up = state.up;
      graph.unit = this.context.unit();
      graph.full = state.full;
      graph.show(model, new Colouring(model, colour), model.nodeOf(state.zoom), model.nodeOf(at));
      this.showLegend();
      if (!graph.at && state.symbol)
        graph.at = Math.max(0, model.widest(state.symbol, state.image));
    }
    const zoom = graph.model?.nodeOf(state.zoom) ?? 0;
    if (zoom !== graph.zoomNode)
      graph.zoom(zoom);
    graph.full = state.full;
    this.colours.set(colour);
    this.reset.disabled = !graph.zoomNode;
    this.empty.hidden = tree.total > 0;
    this.showFound(state);
    graph.refresh();
    if (graph.model)
      this.status.textContent = graph.describe(graph.at);
    this.root.dataset.ready = "1";
  }

  private showFound(state: State): void {
    const { model, zoomNode } = this.graph;
    if (!model)
      return;
    const { samples, frames } = model.search(state.search, zoomNode);
    this.found.textContent = state.search
      ? `${percent(samples, model.total[zoomNode])} matched, ${frames} ${frames === 1 ? "frame" : "frames"}` : "";
    this.found.title = state.search ? amount(samples, this.context.unit()) : "";
  }

  private showLegend(): void {
    const entries = this.graph.colouring?.legend ?? [];
    fill(this.legend, ...entries.map(([colour, text]) => {
      const swatch = el("i");
      swatch.style.backgroundColor = colour;
      return el("span", {}, swatch, text);
    }));
    this.legend.setAttribute("aria-label", `Colours: ${entries.map(([, text]) => text).join(", ")}`);
  }

  repaint(): void {
    const { graph } = this;
    if (!graph.model || !graph.colouring)
      return;
    graph.colouring = new Colouring(graph.model, graph.colouring.name);
    this.showLegend();
    graph.refresh();
  }

  copies(): { name: string; text(): Promise<string> }[] {
    const { source, store } = this.context;
    return [
      { name: "Folded stacks", text: () => source.text(store.state.sel, "folded", "") },
      { name: "Functions as text", text: () => source.text(store.state.sel, "text", "symbol,image") },
      { name: "Functions as CSV", text: () => source.text(store.state.sel, "csv", "symbol,image") },
    ];
  }
}
