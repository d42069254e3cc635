/* SPDX-License-Identifier: GPL-2.0-or-later */
// Call trees of the data document: by calls, by callers, by time, and those of one function.
import { FileData, sum } from "./file_data";
import { Selection, SymbolRow, Tree } from "./types";

// Counts of the nodes; base and neu exist only in a comparison.
interface Weights {
  self: Float64Array;
  total: Float64Array;
  base?: Float64Array;
  neu?: Float64Array;
}

// Collects the nodes of an answer in preorder.
class TreeMaker {
  readonly tree: Tree;
  private readonly known = new Map<number, number>();

  constructor(private readonly data: FileData, weights: Weights) {
    const compare = weights.base && weights.neu;
    this.tree = {
      total: 0, images: data.doc.images, symbols: [], symbol: [], up: [], self: [], total_of: [],
      omitted: 0, ...(compare ? { base_total: 0, new_total: 0, base_of: [], new_of: [] } : {}),
    };
  }

  get size(): number {
    return this.tree.symbol.length;
  }

  private symbolAt(symbol: number): number {
    if (symbol < 0)
      return -1;
    let at = this.known.get(symbol);
    if (at === undefined) {
      at = this.tree.symbols.length;
      this.known.set(symbol, at);
      this.tree.symbols.push(this.data.doc.symbols[symbol] as SymbolRow);
    }
    return at;
  }

  add(symbol: number, parent: number, self: number, total: number, base = 0, neu = 0): number {
    const { tree } = this, at = tree.symbol.length;
    tree.symbol.push(this.symbolAt(symbol));
    tree.up.push(parent < 0 ? 0 : at - parent);
    tree.self.push(self);
    tree.total_of.push(total);
    tree.base_of?.push(base);
    tree.new_of?.push(neu);
    return at;
  }
}

export function weigh(data: FileData, cells: Int32Array): Weights {
  const self = data.selfOf(cells), total = data.totalsOf(self);
  if (!data.doc.info.compare)
    return { self, total };
  return {
    self, total, base: data.totalsOf(data.selfOf(cells, 0)), neu: data.totalsOf(data.selfOf(cells, 1)),
  };
}

function finish(maker: TreeMaker, data: FileData, cells: Int32Array): Tree {
  const { tree } = maker;
  let base = 0;
  tree.total = 0;
  for (const i of cells) {
    tree.total += data.count[i];
    if (!data.side[i])
      base += data.count[i];
  }
  if (tree.base_of) {
    tree.base_total = base;
    tree.new_total = tree.total - base;
  }
  return tree;
}

// The smallest count of a node in the answer.
function threshold(totals: Float64Array, all: number, min: number, limit: number): number {
  let least = Math.max(min * all, Number.MIN_VALUE), nr = 0;
  for (const total of totals)
    nr += Number(total >= least);
  if (nr > limit) {
    const sorted = totals.filter((total) => total >= least).sort();
    least = sorted[sorted.length - limit];
  }
  return least;
}

export function treeByCalls(data: FileData, sel: Selection, min: number, limit: number): Tree {
  const cells = data.cellsOf(sel), w = weigh(data, cells), maker = new TreeMaker(data, w);
  const least = threshold(w.total, sum(w.self), min, limit);
  const at = new Int32Array(data.nodes);
  for (let i = 0; i < data.nodes;) {
    if (w.total[i] < least) {
      maker.tree.omitted = (maker.tree.omitted ?? 0) + w.total[i];
      i = data.end[i];
      continue;
    }
    const up = data.parent[i];
    at[i] = maker.add(data.symbol[i], up < 0 ? -1 : at[up], w.self[i], w.total[i], w.base?.[i],
      w.neu?.[i]);
    i++;
  }
  return finish(maker, data, cells);
}

// Nodes of the data document that one node of an answer represents, with the samples of each.
interface Group {
  symbol: number;
  nodes: number[];
  weights: number[];
  bases: number[];
  total: number;
  base: number;
}

class Groups {
  private readonly bySymbol = new Map<number, Group>();

  add(symbol: number, node: number, weight: number, base: number): void {
    let group = this.bySymbol.get(symbol);
    if (!group) {
      group = { symbol, nodes: [], weights: [], bases: [], total: 0, base: 0 };
      this.bySymbol.set(symbol, group);
    }
    group.total += weight;
    group.base += base;
    // Entries for one node often follow each other.
    const last = group.nodes.length - 1;
    if (last >= 0 && group.nodes[last] === node) {
      group.weights[last] += weight;
      group.bases[last] += base;
      return;
    }
    group.nodes.push(node);
    group.weights.push(weight);
    group.bases.push(base);
  }

  // In descending order.
  sorted(): Group[] {
    return [...this.bySymbol.values()].sort((a, b) => b.total - a.total);
  }
}

function expandCallers(data: FileData, maker: TreeMaker, group: Group, parent: number, least: number,
  limit: number, ownAll: boolean): void {
  const next = new Groups();
  let ends = 0;
  group.nodes.forEach((node, i) => {
    let up = data.parent[node];
    if (up >= 0 && data.symbol[up] < 0)
      up = data.parent[up];
    if (up < 0)
      ends += group.weights[i];
    else
      next.add(data.symbol[up], up, group.weights[i], group.bases[i]);
  });
  const at = maker.add(group.symbol, parent, ownAll ? group.total : ends, group.total, group.base,
    group.total - group.base);
  for (const up of next.sorted()) {
    if (up.total < least || maker.size >= limit) {
      maker.tree.omitted = (maker.tree.omitted ?? 0) + up.total;
      continue;
    }
    expandCallers(data, maker, up, at, least, limit, false);
  }
}

export function treeByCallers(data: FileData, sel: Selection, min: number, limit: number): Tree {
  const cells = data.cellsOf(sel), w = weigh(data, cells), maker = new TreeMaker(data, w);
  const least = Math.max(min * sum(w.self), Number.MIN_VALUE), roots = new Groups();
  const base = data.doc.info.compare ? data.selfOf(cells, 0) : new Float64Array(data.nodes);
  for (let i = 0; i < data.nodes; i++)
    if (w.self[i] && data.symbol[i] >= 0)
      roots.add(data.symbol[i], i, w.self[i], base[i]);
  for (const group of roots.sorted())
    if (group.total >= least && maker.size < limit)
      expandCallers(data, maker, group, -1, least, limit, true);
  return finish(maker, data, cells);
}

// The functions on the stack of a node, outermost first.
function stackOf(data: FileData, node: number): number[] {
  const stack: number[] = [];
  for (let up = node; up >= 0; up = data.parent[up])
    if (data.symbol[up] >= 0)
      stack.push(data.symbol[up]);
  return stack.reverse();
}

export function treeByTime(data: FileData, sel: Selection, min: number, limit: number): Tree {
  const cells = data.cellsOf(sel), order = Array.from(cells).sort((a, b) =>
    data.thread[a] - data.thread[b] || data.bin[a] - data.bin[b] || data.node[a] - data.node[b]);
  const runs = new TreeMaker(data, { self: new Float64Array(0), total: new Float64Array(0) });
  const path: number[] = [], names: number[] = [], { tree } = runs, parents: number[] = [];
  let thread = -1;
  for (const cell of order) {
    const stack = stackOf(data, data.node[cell]);
    let same = 0;
    if (data.thread[cell] === thread)
      while (same < names.length && same < stack.length && names[same] === stack[same])
        same++;
    thread = data.thread[cell];
    path.length = names.length = same;
    for (let k = same; k < stack.length; k++) {
      parents.push(path[k - 1] ?? -1);
      path.push(runs.add(stack[k], path[k - 1] ?? -1, 0, 0));
      names.push(stack[k]);
    }
    if (path.length)
      tree.self[path[path.length - 1]] += data.count[cell];
    for (const node of path)
      tree.total_of[node] += data.count[cell];
  }
  return prune(finish(runs, data, cells), parents, min, limit);
}

// Leaves out the small nodes of an answer.
function prune(tree: Tree, parents: number[], min: number, limit: number): Tree {
  const least = threshold(Float64Array.from(tree.total_of), tree.total, min, limit);
  const at: number[] = [];
  const out: Tree = { ...tree, symbol: [], up: [], self: [], total_of: [], omitted: 0 };
  tree.symbol.forEach((symbol, i) => {
    const parent = parents[i];
    if (tree.total_of[i] < least || (parent >= 0 && at[parent] < 0)) {
      if (parent < 0 || at[parent] >= 0)
        out.omitted = (out.omitted ?? 0) + tree.total_of[i];
      at[i] = -1;
      return;
    }
    at[i] = out.symbol.length;
    out.up.push(parent < 0 ? 0 : at[i] - at[parent]);
    out.symbol.push(symbol);
    out.self.push(tree.self[i]);
    out.total_of.push(tree.total_of[i]);
  });
  return out;
}

function expandCallees(data: FileData, w: Weights, maker: TreeMaker, group: Group, parent: number,
  least: number, limit: number): void {
  const next = new Groups();
  let self = 0;
  for (const node of group.nodes) {
    self += w.self[node];
    for (let k = node + 1; k < data.end[node]; k = data.end[k])
      if (w.total[k])
        next.add(data.symbol[k], k, w.total[k], w.base?.[k] ?? 0);
  }
  const at = maker.add(group.symbol, parent, self, group.total, group.base, group.total - group.base);
  for (const callee of next.sorted()) {
    if (callee.total < least || maker.size >= limit) {
      maker.tree.omitted = (maker.tree.omitted ?? 0) + callee.total;
      continue;
    }
    expandCallees(data, w, maker, callee, at, least, limit);
  }
}

// The callers and callees of functions, merged over all stacks. Of recursive calls the outermost
// counts.
export function sandwich(data: FileData, sel: Selection, wanted: Uint8Array, min: number, limit: number):
  { self: number; total: number; callers: Tree; callees: Tree } {
  const cells = data.cellsOf(sel), w = weigh(data, cells), inside = new Uint8Array(data.nodes);
  const groups = new Groups(), first = wanted.indexOf(1);
  let self = 0;
  for (let i = 0; i < data.nodes; i++) {
    const above = data.parent[i] >= 0 && inside[data.parent[i]];
    const is = data.symbol[i] >= 0 && wanted[data.symbol[i]];
    inside[i] = Number(above || is);
    if (is)
      self += w.self[i];
    if (is && !above && w.total[i])
      groups.add(first, i, w.total[i], w.base?.[i] ?? 0);
  }
  const [group] = groups.sorted();
  const callers = new TreeMaker(data, w), callees = new TreeMaker(data, w);
  if (group) {
    const least = Math.max(min * group.total, Number.MIN_VALUE);
    expandCallers(data, callers, group, -1, least, limit, false);
    expandCallees(data, w, callees, group, -1, least, limit);
  }
  finish(callers, data, cells);
  finish(callees, data, cells);
  return { self, total: group?.total ?? 0, callers: callers.tree, callees: callees.tree };
}
