/* SPDX-License-Identifier: GPL-2.0-or-later */
// The panel with the selected function: its samples in the selection, and links to its views.
import { announce, append, button, el, fill } from "./dom";
import { FlameModel } from "./flame_model";
import { amount, baseName, percent } from "./format";
import { State, withFilter } from "./state";
import { KINDS } from "./types";
import { Context, View } from "./view";

const CALLERS = 40;

export class Panel implements View {
  readonly root = el("aside", { class: "panel", "aria-label": "Selected function" });
  // The flame graph, whose selected frame the panel describes.
  graph: () => { model: FlameModel | null; at: number } = () => ({ model: null, at: 0 });
  copy: (text: string) => void = () => {};

  constructor(private readonly context: Context) {}

  update(state: State): void {
    const { store } = this.context;
    if (!state.symbol) {
      fill(this.root, el("p", { class: "dim" }, "Select a frame to see its function. Double-click a frame, or press " +
        "Enter, to zoom in."));
      return;
    }
    const { model, at } = this.graph(), frame = model && at && model.id(at) === state.symbol ? at : -1;
    const short = model && frame >= 0 ? model.name(frame) : this.shortName(model, state.symbol);
    const go = (tab: State["tab"]) => () => store.set({ tab });
    const only = (name: "through" | "symbol" | "image", value: string) => () =>
      store.select(withFilter(store.state.sel, name, [value]));
    fill(this.root, el("header", {}, el("h2", { title: state.symbol }, state.full ? state.symbol : short),
      button("×", () => store.set({ symbol: "", image: "" }), { "aria-label": "Close the panel", class: "close" })));
    if (short !== state.symbol && !state.full)
      append(this.root, el("details", {}, el("summary", {}, "Full name"), el("p", { class: "full" }, state.symbol)));
    append(this.root, el("p", { class: "dim", title: state.image }, baseName(state.image) || "no binary",
      model && frame >= 0 ? ` · ${KINDS[model.kind(frame)] ?? ""}` : ""));
    if (model && frame >= 0)
      append(this.root, this.numbers(model, frame));
    append(this.root, el("div", { class: "links" },
      button("Callers and callees", go("function"), { "data-go": "function", "aria-current": state.tab === "function" ? "page" : undefined }),
      button("Source and instructions", go("source"), { "data-go": "source", "aria-current": state.tab === "source" ? "page" : undefined }),
      state.tab !== "flame" && button("Flame graph", go("flame"), { "data-go": "flame" })),
    el("h3", {}, "Show only"), el("div", { class: "links" },
      button("Stacks through it", only("through", state.symbol)),
      button("Its own samples", only("symbol", state.symbol)),
      state.image ? button(`Binary ${baseName(state.image)}`, only("image", state.image)) : null,
      button("Copy name", () => this.copy(state.symbol))));
    if (model && frame >= 0)
      append(this.root, this.stack(model, frame));
  }

  private shortName(model: FlameModel | null, symbol: string): string {
    return model?.symbols.find((s) => s[3] === symbol)?.[0] ?? symbol;
  }

  private numbers(model: FlameModel, i: number): HTMLElement {
    const all = model.total[0], unit = this.context.unit();
    const rows: [string, string][] = [
      ["This frame", `${amount(model.total[i], unit)} · ${percent(model.total[i], all)}`],
      ["Self", `${amount(model.self[i], unit)} · ${percent(model.self[i], all)}`]];
    if (model.base && model.neu)
      rows.push(["Base", percent(model.base[i], model.baseTotal)], ["New", percent(model.neu[i], model.newTotal)]);
    return el("dl", {}, ...rows.flatMap(([term, text]) => [el("dt", {}, term), el("dd", {}, text)]));
  }

  // The callers of the frame, innermost first.
  private stack(model: FlameModel, i: number): HTMLElement {
    const list = el("ol", { class: "stack" });
    for (let up = model.parent[i], k = 0; up && k < CALLERS; up = model.parent[up], k++) {
      const node = up;
      append(list, el("li", {}, button(model.name(node, this.context.store.state.full), () => {
        announce(model.name(node));
        this.context.showFunction(model.id(node), model.image(node));
      }, { class: "link", title: model.name(node, true) })));
    }
    return el("details", { class: "callers" }, el("summary", {}, "Called by"), list);
  }
}
