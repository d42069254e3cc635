/* SPDX-License-Identifier: GPL-2.0-or-later */
// The callers and callees of one function, merged over all stacks.
import { Colouring } from "./colours";
import { append, button, el, fill } from "./dom";
import { FlameModel } from "./flame_model";
import { FlameView } from "./flame_view";
import { amount, baseName, csvCell, percent } from "./format";
import { selectionKey, State } from "./state";
import { FunctionAnswer } from "./types";
import { Context, errorBox, Loader, View } from "./view";

const LISTED = 50;

class Side {
  readonly root: HTMLElement;
  readonly graph: FlameView;
  readonly list = el("tbody");
  private readonly none: HTMLElement;

  constructor(readonly title: string, private readonly context: Context, up: boolean) {
    const { store } = context;
    const choose = (i: number, more: Partial<State> = {}) => {
      const { model } = this.graph;
      if (model && model.symbol[i] >= 0)
        store.set({ symbol: model.id(i), image: model.image(i), ...more });
    };
    this.graph = new FlameView(title, {
      selected: (i) => {
        const { model } = this.graph;
        if (model && i && model.symbol[i] >= 0)
          context.showFunction(model.id(i), model.image(i));
      },
      opened: (i, tab) => choose(i, { tab }),
    });
    this.graph.up = up;
    this.graph.onlyAsTall = true;
    this.none = el("p", { class: "empty", hidden: true },
      `No ${title.toLowerCase()} in the selection.`);
    const table = el("table", { class: "sides" }, el("caption", { class: "unseen" }, `Direct ${title.toLowerCase()}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "n" }, "Samples"),
        el("th", { scope: "col" }, title))), this.list);
    const parts = [el("h3", {}, title), this.none, this.graph.root, el("div", {
      class: "side-list", tabindex: 0, role: "group", "aria-label": `Direct ${title.toLowerCase()}`,
    }, table)];
    this.root = el("div", { class: `side ${up ? "callers" : "callees"}` }, ...parts);
  }

  show(model: FlameModel, state: State, unit: string | undefined): void {
    const { store } = this.context, all = model.total[0];
    this.graph.unit = unit;
    this.graph.full = state.full;
    this.graph.show(model, new Colouring(model, state.colour && state.colour !== "" ? state.colour : "image"), 0, 0);
    const rows: HTMLElement[] = [];
    for (let k = 1; k < model.n && rows.length < LISTED; k = model.end[k]) {
      const i = k, name = model.name(i, state.full);
      const number = el("td", { class: "n bar" }, `${percent(model.total[i], all)}`);
      number.style.setProperty("--share", `${(all ? model.total[i] / all * 100 : 0).toFixed(2)}%`);
      append(rows[rows.push(el("tr")) - 1], number, el("td", { class: "name" },
        button(name, () => store.set({ symbol: model.id(i), image: model.image(i) }),
          { class: "link", title: `${model.name(i, true)} (${baseName(model.image(i))})` })));
    }
    fill(this.list, ...rows);
    this.none.hidden = rows.length > 0;
    this.graph.root.hidden = !rows.length;
    (this.list.parentElement as HTMLElement).hidden = !rows.length;
  }

  repaint(): void {
    const { model, colouring } = this.graph;
    if (model && colouring)
      this.graph.colouring = new Colouring(model, colouring.name);
    this.graph.refresh();
  }
}

export class FunctionTab implements View {
  readonly root = el("section", { class: "function-tab", "aria-label": "Function" });
  private readonly error = errorBox();
  private readonly loader = new Loader(this.root, this.error);
  private readonly hint = el("p", { class: "empty" },
    "Select a function in the flame graph or in the table to see its callers and callees.");
  private readonly head = el("header", { class: "function-head", hidden: true });
  private readonly callers: Side;
  private readonly callees: Side;
  private answer: FunctionAnswer | null = null;

  constructor(private readonly context: Context) {
    this.callers = new Side("Callers", context, true);
    this.callees = new Side("Callees", context, false);
    append(this.root, this.error, this.hint, el("div", { class: "sandwich", hidden: true },
      this.callers.root, this.head, this.callees.root));
  }

  private get body(): HTMLElement {
    return this.root.querySelector(".sandwich") as HTMLElement;
  }

  update(state: State): void {
    const { context } = this;
    this.hint.hidden = state.symbol !== "";
    this.body.hidden = state.symbol === "";
    if (!state.symbol) {
      this.error.hidden = true;
      this.loader.forget();
      return;
    }
    const key = `${state.symbol}\0${state.image}?${selectionKey(state.sel)}#${context.generation} ` +
      `${state.full} ${state.colour}`;
    this.loader.load(key, (signal) =>
      context.source.functionOf(state.sel, state.symbol, state.image, signal),
    (answer) => this.show(answer, context.store.state));
  }

  private show(answer: FunctionAnswer, state: State): void {
    const { context } = this, { info, store } = context, unit = context.unit();
    this.answer = answer;
    const callers = new FlameModel(answer.callers, true, false);
    const callees = new FlameModel(answer.callees, true, false);
    const all = answer.callees.total || answer.callers.total || answer.total ||
      info.events.find((e) => e.name === (state.sel.event ?? info.events[0]?.name))?.samples || 0;
    const full = answer.full ?? state.symbol;
    this.head.hidden = false;
    fill(this.head, el("h2", { title: full }, state.full ? full : answer.symbol),
      el("span", { class: "dim" }, baseName(answer.image || state.image)),
      el("span", {}, `total ${amount(answer.total, unit)}${all > answer.total ? ` (${percent(answer.total, all)})` : ""}`),
      el("span", {}, `self ${amount(answer.self, unit)} (${percent(answer.self, answer.total)} of it)`),
      button("Source", () => store.set({ tab: "source" })));
    this.callers.show(callers, state, unit);
    this.callees.show(callees, state, unit);
    this.root.dataset.ready = "1";
  }

  repaint(): void {
    this.callers.repaint();
    this.callees.repaint();
  }

  copies(): { name: string; text(): Promise<string> }[] {
    const { source, store } = this.context;
    return [
      { name: "Callers and callees as text", text: async () => this.asText() },
      { name: "Callers and callees as CSV", text: async () => this.asCsv() },
      {
        name: "Folded stacks through it", text: () => {
          const { sel, symbol } = store.state;
          return source.text({ ...sel, filters: { ...sel.filters, through: [symbol] } }, "folded", "");
        },
      },
    ];
  }

  private rows(): [string, string, number][] {
    const rows: [string, string, number][] = [];
    for (const side of [this.callers, this.callees]) {
      const { model } = side.graph;
      for (let i = 1; model && i < model.n; i = model.end[i])
        rows.push([side.title === "Callers" ? "caller" : "callee", model.name(i, true), model.total[i]]);
    }
    return rows;
  }

  private asText(): string {
    const { answer } = this;
    return answer ? `${answer.full ?? answer.symbol}  self ${answer.self}  total ${answer.total}\n` +
      this.rows().map(([kind, name, n]) => `${kind}  ${String(n).padStart(10)}  ${name}\n`).join("") : "";
  }

  private asCsv(): string {
    return [["kind", "symbol", "samples"], ...this.rows()].map((row) =>
      row.map(csvCell).join(",")).join("\r\n") + "\r\n";
  }
}
