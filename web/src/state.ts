/* SPDX-License-Identifier: GPL-2.0-or-later */
// The state of the page, all of which is in the address: a copied address shows the same, and
// "back" works.
import { Filter, FILTERS, Selection, TreeOrder } from "./types";

export type Tab = "flame" | "table" | "function" | "source" | "quality" | "record";
export const TABS: readonly Tab[] = ["flame", "table", "function", "source", "quality", "record"];

export interface State {
  readonly tab: Tab;
  readonly sel: Selection;
  readonly symbol: string; // the selected function
  readonly image: string;
  readonly by: TreeOrder;
  readonly up: boolean; // a flame graph that grows upwards
  readonly colour: string;
  readonly search: string;
  readonly zoom: string; // hash of the path to the zoomed frame
  readonly keys: string; // of the table
  readonly sort: string;
  readonly page: number;
  readonly tracks: string;
  readonly heat: boolean;
  readonly full: boolean; // full names of C++ functions
  readonly view: string; // the range of time that the timeline shows: FROM-TO in ns
}

export const DEFAULTS: State = {
  tab: "flame", sel: { filters: {} }, symbol: "", image: "", by: "calls", up: false, colour: "",
  search: "", zoom: "", keys: "symbol,image", sort: "self", page: 0, tracks: "thread", heat: false,
  full: false, view: "",
};
// Members that are plain texts in the address.
const TEXTS = ["tab", "by", "colour", "search", "zoom", "keys", "sort", "tracks", "view"] as const;

export function encode(state: State): string {
  const q = new URLSearchParams();
  for (const name of TEXTS)
    if (state[name] !== DEFAULTS[name])
      q.append(name, state[name]);
  for (const name of ["up", "heat", "full"] as const)
    if (state[name])
      q.append(name, "1");
  if (state.page)
    q.append("page", String(state.page));
  if (state.symbol)
    q.append("fn", state.symbol);
  if (state.image)
    q.append("in", state.image);
  encodeSelection(state.sel, q);
  return q.toString();
}

function encodeSelection(sel: Selection, q: URLSearchParams): void {
  for (const name of ["event", "side", "text"] as const)
    if (sel[name])
      q.append(name, sel[name] as string);
  for (const name of ["from", "to"] as const)
    if (sel[name] !== undefined)
      q.append(name, String(Math.round(sel[name] as number)));
  for (const name of FILTERS)
    for (const value of sel.filters[name] ?? [])
      q.append(name, value);
}

function number(text: string | null): number | undefined {
  return text !== null && /^\d{1,19}$/.test(text) ? Number(text) : undefined;
}

export function decode(hash: string): State {
  const q = new URLSearchParams(hash.replace(/^#/, ""));
  const state: Record<string, unknown> = { ...DEFAULTS };
  for (const name of TEXTS)
    if (q.has(name))
      state[name] = q.get(name);
  for (const name of ["up", "heat", "full"])
    state[name] = q.get(name) === "1";
  state.page = number(q.get("page")) ?? 0;
  state.symbol = q.get("fn") ?? "";
  state.image = q.get("in") ?? "";
  if (!TABS.includes(state.tab as Tab))
    state.tab = DEFAULTS.tab;
  if (!["calls", "callers", "time"].includes(state.by as string))
    state.by = DEFAULTS.by;
  state.sel = decodeSelection(q);
  return state as unknown as State;
}

function decodeSelection(q: URLSearchParams): Selection {
  const filters: Partial<Record<Filter, string[]>> = {};
  for (const name of FILTERS)
    if (q.has(name))
      filters[name] = q.getAll(name);
  const side = q.get("side");
  return {
    event: q.get("event") || undefined, text: q.get("text") || undefined,
    from: number(q.get("from")), to: number(q.get("to")),
    side: side === "base" || side === "new" ? side : undefined, filters,
  };
}

// Identifies a selection: equal keys select the same samples.
export function selectionKey(sel: Selection): string {
  const q = new URLSearchParams();
  encodeSelection(sel, q);
  return q.toString();
}

export function withFilter(sel: Selection, name: Filter, values: readonly string[]): Selection {
  const filters = { ...sel.filters };
  if (values.length)
    filters[name] = values;
  else
    delete filters[name];
  return { ...sel, filters };
}

export function toggleFilter(sel: Selection, name: Filter, value: string): Selection {
  const old = sel.filters[name] ?? [];
  return withFilter(sel, name, old.includes(value) ? old.filter((v) => v !== value) : [...old, value]);
}

export class Store {
  state: State;
  private readonly listeners: ((state: State) => void)[] = [];

  constructor() {
    this.state = decode(location.hash);
    addEventListener("hashchange", () => {
      if (location.hash.replace(/^#/, "") !== encode(this.state))
        this.change(decode(location.hash));
    });
  }

  listen(listener: (state: State) => void): void {
    this.listeners.push(listener);
  }

  // A new entry of the history; `replace` is for changes while typing or dragging.
  set(patch: Partial<State>, replace = false): void {
    const state = { ...this.state, ...patch };
    const hash = encode(state);
    if (hash === encode(this.state))
      return;
    history[replace ? "replaceState" : "pushState"](null, "", `#${hash}`);
    this.change(state);
  }

  select(sel: Selection, replace = false): void {
    this.set({ sel, page: 0 }, replace);
  }

  private change(state: State): void {
    this.state = state;
    for (const listener of this.listeners)
      listener(state);
  }
}
