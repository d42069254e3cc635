/* SPDX-License-Identifier: GPL-2.0-or-later */
// A call tree that is laid out for drawing: the nodes in preorder, with positions and depths.
import { baseName, hash } from "./format";
import { SymbolRow, Tree } from "./types";

// Matches function names with a regular expression, or with a text if the expression is invalid.
// Case is ignored.
export function matcher(text: string): (name: string) => boolean {
  try {
    const pattern = new RegExp(text, "i");
    return (name) => pattern.test(name);
  } catch {
    const wanted = text.toLowerCase();
    return (name) => name.toLowerCase().includes(wanted);
  }
}

export class FlameModel {
  readonly n: number;
  readonly symbol: Int32Array; // index of symbols; -1: the root of all samples
  readonly parent: Int32Array;
  readonly end: Int32Array; // the first node after the callees
  readonly depth: Int32Array;
  readonly self: Float64Array;
  readonly total: Float64Array;
  readonly base: Float64Array | null;
  readonly neu: Float64Array | null;
  readonly x: Float64Array; // samples to the left of the node
  readonly path: Uint32Array; // hash of the names from the root
  readonly found: Uint8Array; // matches of the search
  readonly symbols: SymbolRow[];
  readonly images: string[];
  readonly deepest: number;
  readonly baseTotal: number;
  readonly newTotal: number;

  // `byWeight` moves the heaviest callees to the left; otherwise the order of the answer is kept.
  // `withAll` adds a root of all samples; without it a single root of the answer is the root.
  constructor(tree: Tree, byWeight: boolean, withAll = true) {
    this.symbols = tree.symbols;
    this.images = tree.images;
    const { order, parents } = arrange(tree, byWeight, withAll), n = this.n = order.length;
    this.symbol = new Int32Array(n);
    this.parent = parents;
    this.end = new Int32Array(n);
    this.depth = new Int32Array(n);
    this.self = new Float64Array(n);
    this.total = new Float64Array(n);
    this.base = tree.base_of ? new Float64Array(n) : null;
    this.neu = tree.new_of ? new Float64Array(n) : null;
    this.x = new Float64Array(n);
    this.path = new Uint32Array(n);
    this.found = new Uint8Array(n);
    this.baseTotal = tree.base_total ?? 0;
    this.newTotal = tree.new_total ?? 0;
    this.fill(tree, order);
    this.deepest = this.layOut();
  }

  private fill(tree: Tree, order: Int32Array): void {
    for (let i = 0; i < this.n; i++) {
      const from = order[i];
      if (from < 0) { // a root that the answer does not contain
        this.symbol[i] = -1;
        this.total[i] = Math.max(tree.total, sumOfRoots(tree));
        if (this.base && this.neu) {
          this.base[i] = this.baseTotal;
          this.neu[i] = this.newTotal;
        }
        continue;
      }
      this.symbol[i] = tree.symbol[from];
      this.self[i] = tree.self[from];
      this.total[i] = tree.total_of[from];
      if (this.base && tree.base_of)
        this.base[i] = tree.base_of[from];
      if (this.neu && tree.new_of)
        this.neu[i] = tree.new_of[from];
    }
  }

  // Returns the largest depth.
  private layOut(): number {
    const next = new Float64Array(this.n), names = this.symbols.map((s) => hash(s[3] ?? s[0]));
    let deepest = 0;
    for (let i = this.n - 1; i >= 0; i--) {
      this.end[i] = Math.max(this.end[i], i + 1);
      if (i)
        this.end[this.parent[i]] = Math.max(this.end[this.parent[i]], this.end[i]);
    }
    for (let i = 1; i < this.n; i++) {
      const up = this.parent[i];
      this.x[i] = next[up];
      next[up] += this.total[i];
      next[i] = this.x[i];
      this.depth[i] = this.depth[up] + 1;
      deepest = Math.max(deepest, this.depth[i]);
      this.path[i] = Math.imul(this.path[up] ^ (names[this.symbol[i]] ?? 0), 16777619) >>> 0;
    }
    return deepest;
  }

  name(i: number, full = false): string {
    const s = this.symbols[this.symbol[i]];
    return s ? (full && s[3]) || s[0] : "all";
  }

  // The name that identifies the function in queries.
  id(i: number): string {
    const s = this.symbols[this.symbol[i]];
    return s ? s[3] ?? s[0] : "";
  }

  image(i: number): string {
    return this.images[this.symbols[this.symbol[i]]?.[1]] ?? "";
  }

  kind(i: number): number {
    return this.symbols[this.symbol[i]]?.[2] ?? 3;
  }

  label(i: number, full: boolean): string {
    const image = this.image(i);
    return this.symbol[i] < 0 ? "all" : `${this.name(i, full)}${image ? ` (${baseName(image)})` : ""}`;
  }

  // The share of the new samples minus the share of the base samples.
  change(i: number): number {
    if (!this.base || !this.neu)
      return 0;
    return (this.newTotal ? this.neu[i] / this.newTotal : 0) -
      (this.baseTotal ? this.base[i] / this.baseTotal : 0);
  }

  nodeOf(path: string): number {
    const wanted = path ? parseInt(path, 36) >>> 0 : 0;
    return wanted ? Math.max(0, this.path.indexOf(wanted)) : 0;
  }

  pathOf(i: number): string {
    return i ? this.path[i].toString(36) : "";
  }

  // The frame of this function with the most samples; -1: none.
  widest(id: string, image: string): number {
    let best = -1;
    for (let i = 0; i < this.n; i++)
      if (this.symbol[i] >= 0 && this.id(i) === id && (!image || this.image(i) === image) &&
          (best < 0 || this.total[i] > this.total[best]))
        best = i;
    return best;
  }

  // Marks the matches. Returns the samples of matches below `top`, of which nested ones count once,
  // and the number of matches.
  search(text: string, top: number): { samples: number; frames: number } {
    this.found.fill(0);
    if (!text)
      return { samples: 0, frames: 0 };
    const matches = matcher(text), known = this.symbols.map((s) => matches(s[0]) || matches(s[3] ?? ""));
    const inside = new Uint8Array(this.n);
    let samples = 0, frames = 0;
    for (let i = 1; i < this.n; i++) {
      const is = this.symbol[i] >= 0 && known[this.symbol[i]], above = inside[this.parent[i]];
      this.found[i] = Number(is);
      inside[i] = Number(is || above);
      frames += Number(is);
      if (is && !above && i >= top && i < this.end[top])
        samples += this.total[i];
    }
    return { samples, frames };
  }

  // The previous (by < 0) or next node with the same caller.
  sibling(i: number, by: number): number {
    const up = this.parent[i];
    let last = -1;
    for (let k = up + 1; i && k < this.end[up]; k = this.end[k]) {
      if (by < 0 && k === i)
        return last < 0 ? i : last;
      if (by > 0 && last === i)
        return k;
      last = k;
    }
    return i;
  }

  heaviestCallee(i: number): number {
    let best = i;
    for (let k = i + 1; k < this.end[i]; k = this.end[k])
      if (best === i || this.total[k] > this.total[best])
        best = k;
    return best;
  }
}

function sumOfRoots(tree: Tree): number {
  let all = 0;
  for (let i = 0; i < tree.up.length; i++)
    all += tree.up[i] ? 0 : tree.total_of[i];
  return all;
}

// The new order of an answer's nodes (-1: a root above all roots of the answer), and the parent of
// each.
function arrange(tree: Tree, byWeight: boolean, withAll: boolean): { order: Int32Array; parents: Int32Array } {
  const n = tree.symbol.length, children: number[][] = [], roots: number[] = [];
  for (let i = 0; i < n; i++)
    if (!tree.up[i])
      roots.push(i);
    else
      (children[i - tree.up[i]] ??= []).push(i);
  const single = roots.length === 1 && (!withAll || tree.symbol[roots[0]] < 0);
  const order = new Int32Array(n + (single ? 0 : 1));
  const parents = new Int32Array(order.length), heavier = (a: number, b: number) =>
    tree.total_of[b] - tree.total_of[a] || a - b;
  const stack: [number, number][] = [];
  const push = (nodes: number[], parent: number) => {
    if (byWeight)
      nodes.sort(heavier);
    for (let k = nodes.length - 1; k >= 0; k--)
      stack.push([nodes[k], parent]);
  };
  let at = 0;
  if (!single)
    order[at++] = -1;
  push(roots, 0);
  for (let top = stack.pop(); top; top = stack.pop()) {
    const [node, parent] = top;
    order[at] = node;
    parents[at] = at ? parent : 0;
    if (children[node])
      push(children[node], at);
    at++;
  }
  return { order, parents };
}
