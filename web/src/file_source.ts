/* SPDX-License-Identifier: GPL-2.0-or-later */
// The data of an exported page: the same queries as the server's, computed from the data document.
import { DataDocument, FileData, sum } from "./file_data";
import { sandwich, treeByCallers, treeByCalls, treeByTime } from "./file_trees";
import { csvCell } from "./format";
import {
  ApiError, Code, FunctionAnswer, Heat, Info, Quality, Selection, Source, Table, TableQuery, TableRow,
  Timeline, Track, Tree, TreeOrder, Values,
} from "./types";

const MIN_OF_FUNCTION = 0.0005, NODES_OF_FUNCTION = 20000;

interface Row extends TableRow {
  symbol: number;
}

export class FileSource implements Source {
  readonly keys = ["symbol", "image", "comm", "pid", "tid", "cpu", "cgroup"];
  readonly recorder = null;
  readonly data: FileData;

  constructor(readonly doc: DataDocument) {
    this.data = new FileData(doc);
  }

  async info(): Promise<Info> {
    return { ...this.doc.info, live: false, record: false };
  }

  live(): () => void {
    return () => {};
  }

  // The value of a key for a cell, where it does not depend on the stack.
  private keyOf(key: string): ((cell: number) => string) | null {
    const { data, doc } = this, thread = (cell: number) => doc.threads[data.thread[cell]];
    const keys: Record<string, (cell: number) => string> = {
      pid: (cell) => String(thread(cell)[0]), tid: (cell) => String(thread(cell)[1]),
      comm: (cell) => thread(cell)[2], cgroup: (cell) => thread(cell)[3] ?? "",
      cpu: (cell) => String(data.cpu[cell]), event: (cell) => doc.info.events[data.event[cell]].name,
    };
    return keys[key] ?? null;
  }

  async values(sel: Selection, of: string, top: number, prefix: string): Promise<Values> {
    const { data } = this, sums = new Map<string, number>(), key = this.keyOf(of);
    const own = of === "image" ? (s: number) => data.imageOf(s) : (s: number) => data.fullNameOf(s);
    for (const cell of data.cellsOf(sel)) {
      const symbol = data.symbol[data.node[cell]], name = key ? key(cell) : symbol < 0 ? "" : own(symbol);
      sums.set(name, (sums.get(name) ?? 0) + data.count[cell]);
    }
    const wanted = prefix.toLowerCase();
    const rows = [...sums].filter(([name]) => name && name.toLowerCase().includes(wanted))
      .sort((a, b) => b[1] - a[1]).slice(0, top);
    return { rows };
  }

  async timeline(sel: Selection, bins: number, tracks: string, top: number): Promise<Timeline> {
    const { data } = this, [first, last] = data.binsOf(sel), span = Math.max(1, last - first);
    const n = Math.max(1, Math.min(bins, span)), at = (bin: number) => Math.floor((bin - first) * n / span);
    const total = new Array<number>(n).fill(0), byName = new Map<string, Track>();
    const key = tracks === "none" ? null : this.keyOf(tracks === "thread" ? "tid" : tracks);
    for (const cell of data.cellsOf(sel)) {
      const bin = at(data.bin[cell]), count = data.count[cell];
      total[bin] += count;
      if (!key)
        continue;
      const name = key(cell);
      let track = byName.get(name);
      if (!track) {
        track = this.newTrack(tracks, cell, n);
        byName.set(name, track);
      }
      track.bins[bin] += count;
      track.samples += count;
    }
    const lost = new Array<number>(n).fill(0);
    for (const [bin, count] of this.doc.lost ?? [])
      if (bin >= first && bin < last)
        lost[at(bin)] += count;
    return {
      from_ns: first * data.binNs, to_ns: last * data.binNs, bin_ns: span * data.binNs / n, total, lost,
      tracks: [...byName.values()].sort((a, b) => b.samples - a.samples).slice(0, top),
    };
  }

  private newTrack(tracks: string, cell: number, n: number): Track {
    const [pid, tid, comm] = this.doc.threads[this.data.thread[cell]], cpu = this.data.cpu[cell];
    const track = { samples: 0, bins: new Array<number>(n).fill(0) };
    if (tracks === "cpu")
      return { name: `CPU ${cpu}`, cpu, ...track };
    return tracks === "comm" ? { name: comm, comm, ...track }
      : { name: `${comm} ${tid}`, comm, pid, tid, ...track };
  }

  async heat(sel: Selection, columns: number, rows: number): Promise<Heat> {
    const { data } = this, [first, last] = data.binsOf(sel), span = Math.max(1, last - first);
    const high = Math.max(1, Math.min(rows, Math.floor(span / Math.min(columns, span))));
    const wide = Math.ceil(span / high), sums = new Map<number, number>();
    for (const cell of data.cellsOf(sel)) {
      const bin = data.bin[cell] - first;
      sums.set(bin, (sums.get(bin) ?? 0) + data.count[cell]);
    }
    return {
      from_ns: first * data.binNs, column_ns: high * data.binNs, row_ns: data.binNs, columns: wide,
      rows: high, cells: [...sums].sort((a, b) => a[0] - b[0])
        .map(([bin, count]) => [Math.floor(bin / high), bin % high, count]),
    };
  }

  async tree(sel: Selection, by: TreeOrder, min: number, limit: number): Promise<Tree> {
    const make = { calls: treeByCalls, callers: treeByCallers, time: treeByTime }[by];
    return make(this.data, sel, min, limit);
  }

  async table(sel: Selection, query: TableQuery): Promise<Table> {
    const keys = query.by.split(",").filter(Boolean), cells = this.data.cellsOf(sel);
    for (const key of keys)
      if (!this.keys.includes(key) && key !== "event")
        throw new ApiError(`An exported page has no table by '${key}'.`,
          `Use one of: ${this.keys.join(", ")}.`);
    const rows = this.rowsOf(keys, cells), compare: Record<string, (row: Row) => number> = {
      self: (row) => row.self, total: (row) => row.total,
      delta: (row) => Math.abs((row.new ?? 0) - (row.base ?? 0)),
    };
    const weight = compare[query.sort];
    rows.sort((a, b) => (weight ? weight(b) - weight(a) : 0) ||
      (a.values.join("\0") < b.values.join("\0") ? -1 : 1));
    let samples = 0;
    for (const cell of cells)
      samples += this.data.count[cell];
    return {
      keys, rows_total: rows.length, samples,
      rows: rows.slice(query.from_row, query.from_row + query.top).map((row) => this.finished(row, keys)),
    };
  }

  private finished(row: Row, keys: string[]): TableRow {
    const { symbol, ...rest } = row;
    const [, verdict, interval] = keys.includes("symbol") && symbol >= 0
      ? this.doc.verdicts?.find(([s]) => s === symbol) ?? [] : [];
    return { ...rest, ...(verdict ? { verdict, interval } : {}) };
  }

  private rowsOf(keys: string[], cells: Int32Array): Row[] {
    const { data } = this, rows = new Map<string, Row>();
    const bySymbol = keys.includes("symbol"), byImage = keys.includes("image");
    const parts = keys.map((key) => this.keyOf(key)), compare = this.doc.info.compare;
    // A number for the row of each function: functions of one image share a row of keys=image.
    const code = (symbol: number) => bySymbol ? symbol : byImage ? this.doc.symbols[symbol]?.[1] ?? -1 : 0;
    const rowOf = (head: string, cell: number, symbol: number): Row => {
      const id = `${head}\0${code(symbol)}`;
      let row = rows.get(id);
      if (!row) {
        row = {
          values: keys.map((key, k) => parts[k]?.(cell) ??
            (key === "symbol" ? data.nameOf(symbol) || "[unknown]" : data.imageOf(symbol))),
          self: 0, total: 0, symbol,
        };
        if (bySymbol && this.doc.symbols[symbol]?.[3])
          row.full = data.fullNameOf(symbol);
        if (compare)
          row.base = row.new = 0;
        rows.set(id, row);
      }
      return row;
    };
    for (const [head, nodes] of this.byHead(cells, parts)) {
      for (const [node, { cell, count, base }] of nodes) {
        const row = rowOf(head, cell, data.symbol[node]), seen = new Set<number>();
        row.self += count;
        if (compare) {
          row.base = (row.base ?? 0) + base;
          row.new = (row.new ?? 0) + count - base;
        }
        for (let up = node; up >= 0; up = data.parent[up]) {
          const symbol = data.symbol[up];
          if ((symbol < 0 && up !== node) || seen.has(code(symbol)))
            continue;
          seen.add(code(symbol));
          rowOf(head, cell, symbol).total += count;
        }
      }
    }
    return [...rows.values()];
  }

  // The samples of each stack, by the values of the keys that do not depend on the stack.
  private byHead(cells: Int32Array, parts: (((cell: number) => string) | null)[]):
    Map<string, Map<number, { cell: number; count: number; base: number }>> {
    const { data } = this, known = parts.filter((part) => part), out = new Map();
    for (const cell of cells) {
      const head = known.length ? known.map((part) => part?.(cell)).join("\0") : "";
      let nodes = out.get(head) as Map<number, { cell: number; count: number; base: number }>;
      if (!nodes) {
        nodes = new Map();
        out.set(head, nodes);
      }
      let sums = nodes.get(data.node[cell]);
      if (!sums) {
        sums = { cell, count: 0, base: 0 };
        nodes.set(data.node[cell], sums);
      }
      sums.count += data.count[cell];
      sums.base += data.side[cell] ? 0 : data.count[cell];
    }
    return out;
  }

  async functionOf(sel: Selection, symbol: string, image: string): Promise<FunctionAnswer> {
    const filters = { ...sel.filters, symbol: undefined, image: undefined };
    const wanted = this.data.symbolsNamed([symbol], image), at = wanted.indexOf(1);
    if (at < 0)
      throw new ApiError(`The recording has no function '${symbol}'.`);
    const found = sandwich(this.data, { ...sel, filters }, wanted, MIN_OF_FUNCTION, NODES_OF_FUNCTION);
    return {
      symbol: this.data.nameOf(at), image: this.data.imageOf(at), full: this.data.fullNameOf(at), ...found,
    };
  }

  async code(_: Selection, symbol: string, image: string): Promise<Code> {
    const { data } = this, at = data.symbolsNamed([symbol], image).indexOf(1);
    const names = at < 0 ? [symbol] : [data.fullNameOf(at), data.nameOf(at)];
    const images = at < 0 ? [image] : [image, data.imageOf(at)];
    for (const name of names)
      for (const of of images) {
        const found = this.doc.functions?.[`${of}\0${name}`];
        if (found)
          return found;
      }
    throw new ApiError("This exported page does not contain the code of the function.",
      "It contains the functions with the most samples. `oprofile view` shows all of them.");
  }

  async quality(): Promise<Quality> {
    return this.doc.quality ?? { rows: [], images: [] };
  }

  async text(sel: Selection, of: "folded" | "csv" | "text", by: string): Promise<string> {
    if (of === "folded")
      return this.folded(sel);
    const table = await this.table(sel, { by: by || "symbol,image", sort: "self", top: Infinity, from_row: 0 });
    if (of === "csv")
      return [["self", "total", ...table.keys], ...table.rows.map((row) => [row.self, row.total,
        ...row.values])].map((cells) => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";
    return [["self", "total", ...table.keys], ...table.rows.map((row) => [row.self, row.total,
      ...row.values])].map(([self, total, ...rest]) =>
      `${String(self).padStart(12)} ${String(total).padStart(12)}  ${rest.join("  ")}`).join("\n") + "\n";
  }

  private folded(sel: Selection): string {
    const { data } = this, self = data.selfOf(data.cellsOf(sel)), names: string[] = [];
    const clean = (name: string) => name.replace(/[;\n]/g, "_");
    let out = "";
    for (let i = 0; i < data.nodes; i++) {
      const own = data.symbol[i] < 0 ? "" : clean(data.nameOf(data.symbol[i]));
      const above = data.parent[i] < 0 ? "" : names[data.parent[i]];
      names[i] = above && own ? `${above};${own}` : above || own;
      if (self[i])
        out += `${names[i] || "[unknown]"} ${self[i]}\n`;
    }
    return out;
  }
}

// The data document of an element: gzip, base64.
export async function decodeDocument(text: string): Promise<DataDocument> {
  const binary = atob(text.trim()), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++)
    bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return await new Response(stream).json() as DataDocument;
}

export { FileData, sum };

// TypeScript 4.8 does not know this interface.
declare class DecompressionStream {
  constructor(format: string);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}
