/* SPDX-License-Identifier: GPL-2.0-or-later */
// The data document of an exported page (docs/view-api.md), as typed arrays, and the cells that a
// selection contains.
import { Code, Filter, Info, Quality, Selection, SymbolRow } from "./types";

type Column = number[] | number;

export interface DataDocument {
  version: number;
  info: Info & { bin_ns?: number };
  quality?: Quality;
  images: string[];
  symbols: SymbolRow[];
  symbol: number[];
  up: number[];
  threads: [number, number, string, string?][];
  bin_ns: number;
  cells: {
    bin: Column; thread: Column; cpu: Column; event: Column; node: Column; count: number[];
    side?: Column;
  };
  functions?: Record<string, Code>;
  lost?: [number, number][];
  verdicts?: [number, string, [number, number]?][];
  cut?: Record<string, unknown>;
}

function column(from: Column | undefined, n: number): Int32Array {
  return typeof from === "object" ? Int32Array.from(from) : new Int32Array(n).fill(from ?? 0);
}

export class FileData {
  readonly n: number; // cells
  readonly nodes: number;
  readonly bin: Int32Array;
  readonly thread: Int32Array;
  readonly cpu: Int32Array;
  readonly event: Int32Array;
  readonly node: Int32Array;
  readonly side: Int32Array;
  readonly count: Float64Array;
  readonly symbol: Int32Array; // by node; -1: no function
  readonly parent: Int32Array; // by node; -1: a root
  readonly end: Int32Array; // by node: the first node after its callees
  readonly bins: number;
  readonly binNs: number;
  private masks = new Map<string, Uint8Array>();

  constructor(readonly doc: DataDocument) {
    const { cells } = doc;
    this.n = cells.count.length;
    this.nodes = doc.symbol.length;
    this.thread = column(cells.thread, this.n);
    this.cpu = column(cells.cpu, this.n);
    this.event = column(cells.event, this.n);
    this.node = column(cells.node, this.n);
    this.side = column(cells.side, this.n);
    this.count = Float64Array.from(cells.count);
    this.bin = column(cells.bin, this.n);
    if (typeof cells.bin === "object")
      for (let i = 1; i < this.n; i++)
        this.bin[i] += this.bin[i - 1];
    this.binNs = doc.bin_ns || doc.info.bin_ns || 1;
    let last = 0;
    for (let i = 0; i < this.n; i++)
      last = Math.max(last, this.bin[i]);
    this.bins = Math.max(last + 1, Math.ceil(doc.info.duration_ns / this.binNs));
    this.symbol = Int32Array.from(doc.symbol);
    this.parent = new Int32Array(this.nodes);
    this.end = new Int32Array(this.nodes);
    for (let i = 0; i < this.nodes; i++)
      this.parent[i] = doc.up[i] ? i - doc.up[i] : -1;
    for (let i = this.nodes - 1; i >= 0; i--) {
      this.end[i] = Math.max(this.end[i], i + 1);
      if (this.parent[i] >= 0)
        this.end[this.parent[i]] = Math.max(this.end[this.parent[i]], this.end[i]);
    }
  }

  imageOf(symbol: number): string {
    return this.doc.images[this.doc.symbols[symbol]?.[1]] ?? "";
  }

  nameOf(symbol: number): string {
    return this.doc.symbols[symbol]?.[0] ?? "";
  }

  fullNameOf(symbol: number): string {
    return this.doc.symbols[symbol]?.[3] ?? this.nameOf(symbol);
  }

  // By symbol: 1 for functions with this name, in `image` unless it is empty.
  symbolsNamed(names: readonly string[], image = ""): Uint8Array {
    const wanted = new Set(names);
    return Uint8Array.from(this.doc.symbols, (s, i) =>
      Number((wanted.has(s[3] ?? s[0]) || wanted.has(s[0])) && (!image || this.imageOf(i) === image)));
  }

  // By thread: 1 for those that a selection contains.
  private threadMask(sel: Selection): Uint8Array {
    const has = (name: Filter, value: string) => {
      const values = sel.filters[name];
      return !values || values.includes(value);
    };
    return Uint8Array.from(this.doc.threads, ([pid, tid, comm, cgroup]) => Number(
      has("pid", String(pid)) && has("tid", String(tid)) && has("comm", comm) &&
      has("cgroup", cgroup ?? "")));
  }

  // By node: 1 for the stacks that a selection contains; null: all.
  private nodeMask(sel: Selection): Uint8Array | null {
    const { image, symbol, through } = sel.filters;
    if (!image && !symbol && !through && !sel.text)
      return null;
    const key = JSON.stringify([image, symbol, through, sel.text]);
    const known = this.masks.get(key);
    if (known)
      return known;
    const mask = this.makeNodeMask(sel);
    if (this.masks.size > 20)
      this.masks.clear();
    this.masks.set(key, mask);
    return mask;
  }

  private makeNodeMask(sel: Selection): Uint8Array {
    const { image, symbol, through } = sel.filters;
    const own = new Uint8Array(this.doc.symbols.length).fill(1);
    if (symbol)
      this.symbolsNamed(symbol).forEach((on, i) => { own[i] &= on; });
    if (image)
      own.forEach((_, i) => { own[i] &= Number(image.includes(this.imageOf(i))); });
    const onStack: Uint8Array[] = [];
    if (through)
      onStack.push(this.symbolsNamed(through));
    if (sel.text) {
      const text = sel.text.toLowerCase();
      onStack.push(Uint8Array.from(this.doc.symbols, (_, i) => Number(
        this.fullNameOf(i).toLowerCase().includes(text) ||
        this.imageOf(i).toLowerCase().includes(text))));
    }
    const mask = new Uint8Array(this.nodes);
    for (let i = 0; i < this.nodes; i++)
      mask[i] = this.symbol[i] >= 0 ? own[this.symbol[i]] : Number(!symbol && !image);
    for (const wanted of onStack) {
      const inside = new Uint8Array(this.nodes);
      for (let i = 0; i < this.nodes; i++) {
        inside[i] = Number((this.parent[i] >= 0 && inside[this.parent[i]]) ||
          (this.symbol[i] >= 0 && wanted[this.symbol[i]]));
        mask[i] &= inside[i];
      }
    }
    return mask;
  }

  // The range of bins [first, last) that a selection contains: those that begin in it.
  binsOf(sel: Selection): [number, number] {
    const from = sel.from === undefined ? 0 : Math.ceil(sel.from / this.binNs);
    const to = sel.to === undefined ? this.bins : Math.ceil(sel.to / this.binNs);
    return [Math.max(0, from), Math.min(this.bins, to)];
  }

  eventOf(sel: Selection): number {
    return Math.max(0, this.doc.info.events.findIndex((e) => e.name === sel.event));
  }

  // The numbers of the cells that match a selection.
  cellsOf(sel: Selection): Int32Array {
    const out = new Int32Array(this.n), threads = this.threadMask(sel), nodes = this.nodeMask(sel);
    const cpus = sel.filters.cpu && new Set(sel.filters.cpu.map(Number)), event = this.eventOf(sel);
    const side = sel.side ? Number(sel.side === "new") : -1, [first, last] = this.binsOf(sel);
    let nr = 0;
    for (let i = 0; i < this.n; i++)
      if (this.event[i] === event && threads[this.thread[i]] && this.bin[i] >= first &&
          this.bin[i] < last && (side < 0 || this.side[i] === side) &&
          (!nodes || nodes[this.node[i]]) && (!cpus || cpus.has(this.cpu[i])))
        out[nr++] = i;
    return out.subarray(0, nr);
  }

  // The samples of each node without its callees; `side` -1: of both.
  selfOf(cells: Int32Array, side = -1): Float64Array {
    const self = new Float64Array(this.nodes);
    for (const i of cells)
      if (side < 0 || this.side[i] === side)
        self[this.node[i]] += this.count[i];
    return self;
  }

  // Adds the samples of callees to their callers.
  totalsOf(self: Float64Array): Float64Array {
    const total = Float64Array.from(self);
    for (let i = this.nodes - 1; i > 0; i--)
      if (this.parent[i] >= 0)
        total[this.parent[i]] += total[i];
    return total;
  }
}

export function sum(values: ArrayLike<number>): number {
  let all = 0;
  for (let i = 0; i < values.length; i++)
    all += values[i];
  return all;
}
