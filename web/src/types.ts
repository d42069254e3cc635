/* SPDX-License-Identifier: GPL-2.0-or-later */
// The answers of the view API (docs/view-api.md), and the interface of its two implementations.

export type Filter = "comm" | "pid" | "tid" | "cpu" | "cgroup" | "image" | "symbol" | "through";
export const FILTERS: readonly Filter[] =
  ["comm", "pid", "tid", "cpu", "cgroup", "image", "symbol", "through"];

// The samples that a query counts: each given member must match.
export interface Selection {
  readonly event?: string;
  readonly from?: number; // ns since the start of the recording
  readonly to?: number;
  readonly side?: "base" | "new";
  readonly text?: string;
  readonly filters: Readonly<Partial<Record<Filter, readonly string[]>>>;
}

export interface EventInfo {
  name: string;
  samples: number;
  unit?: string;
}

export interface Info {
  version: number;
  title: string;
  command?: string;
  host?: string;
  date?: string;
  duration_ns: number;
  rate_hz?: number;
  samples: number;
  lost?: number;
  live?: boolean;
  compare?: boolean;
  generation?: number;
  events: EventInfo[];
  threads?: number;
  cpus?: number[];
  has_stacks?: boolean;
  has_times?: boolean;
  has_cpus?: boolean;
  has_cgroups?: boolean;
  record?: boolean;
  sources?: boolean;
  warnings?: string[];
}

export interface Values {
  rows: [string, number][];
}

export interface Track {
  name: string;
  comm?: string;
  pid?: number;
  tid?: number;
  cpu?: number;
  samples: number;
  bins: number[];
}

export interface Timeline {
  from_ns: number;
  to_ns: number;
  bin_ns: number;
  total: number[];
  lost?: number[];
  tracks: Track[];
}

export interface Heat {
  from_ns: number;
  column_ns: number;
  row_ns: number;
  columns: number;
  rows: number;
  cells: [number, number, number][];
}

// A short name, its image (-1: none), its kind, and the full name if it differs.
export type SymbolRow = [string, number, number, string?];
export const KINDS: readonly string[] = ["user", "kernel", "inlined", "unknown"];

export interface Tree {
  total: number;
  base_total?: number;
  new_total?: number;
  images: string[];
  symbols: SymbolRow[];
  symbol: number[];
  up: number[];
  self: number[];
  total_of: number[];
  base_of?: number[];
  new_of?: number[];
  omitted?: number;
}

export type TreeOrder = "calls" | "callers" | "time";

export interface TableRow {
  values: string[];
  full?: string;
  self: number;
  total: number;
  base?: number;
  new?: number;
  verdict?: string;
  interval?: [number, number];
}

export interface Table {
  keys: string[];
  rows_total: number;
  samples: number;
  rows: TableRow[];
}

export interface FunctionAnswer {
  symbol: string;
  image: string;
  full?: string;
  self: number;
  total: number;
  callers: Tree;
  callees: Tree;
}

export interface SourceLine {
  line: number;
  text: string;
  samples: number;
}

export interface Instruction {
  address: string | number;
  bytes?: string;
  text: string;
  samples: number;
  line?: number;
  target?: string | number;
}

export interface Code {
  symbol: string;
  image: string;
  samples: number;
  file?: string;
  language?: string;
  first?: number;
  hottest?: number;
  lines: SourceLine[];
  code: Instruction[];
  missing?: string;
}

export interface QualityRow {
  what: string;
  value: string | number;
  share?: number;
  fix?: string;
  severity: "good" | "note" | "bad";
}

export interface QualityImage {
  image: string;
  samples: number;
  build_id?: string;
  why?: string;
  fix?: string;
}

export interface Quality {
  rows: QualityRow[];
  images: QualityImage[];
}

export interface LiveEvent {
  generation: number;
  samples: number;
  lost: number;
  samples_per_s: number;
  cost_percent: number;
  recording: boolean;
}

export interface EventChoice {
  name: string;
  about?: string;
  min_count?: number;
  masks?: { name: string; about?: string }[];
  default_mask?: string | number;
}

export interface EventList {
  cpu?: string;
  events: EventChoice[];
  software?: (EventChoice | string)[];
}

export interface ProcessRow {
  pid: number;
  comm: string;
  command?: string;
  user?: string;
}

export interface ChosenEvent {
  name: string;
  count?: number;
  rate?: number;
  mask?: string;
  user: boolean;
  kernel: boolean;
}

export interface RecordSettings {
  target: "program" | "process" | "system" | "daemon";
  argv: string[];
  directory?: string;
  pid?: number;
  events: ChosenEvent[];
  callgraph: "none" | "fp" | "dwarf";
  separate: string[];
  vmlinux?: string;
  name?: string;
}

export interface RecordStatus {
  recording?: boolean;
  [other: string]: unknown;
}

export type RecordAction = "start" | "stop" | "flush" | "reset" | "save";

// Starts and stops recordings.
export interface Recorder {
  events(): Promise<EventList>;
  processes(): Promise<ProcessRow[]>;
  settings(): Promise<Partial<RecordSettings>>;
  keep(settings: RecordSettings): Promise<void>;
  status(): Promise<RecordStatus>;
  act(action: RecordAction, body: unknown): Promise<RecordStatus>;
}

export interface TableQuery {
  by: string;
  sort: string;
  top: number;
  from_row: number;
}

// The data of the page. HttpSource requests it from the server; FileSource computes it from the
// data document of an exported page.
export interface Source {
  // The keys of tables.
  readonly keys: readonly string[];
  readonly recorder: Recorder | null;
  info(signal?: AbortSignal): Promise<Info>;
  values(sel: Selection, of: string, top: number, prefix: string, signal?: AbortSignal): Promise<Values>;
  timeline(sel: Selection, bins: number, tracks: string, top: number, signal?: AbortSignal):
    Promise<Timeline>;
  heat(sel: Selection, columns: number, rows: number, signal?: AbortSignal): Promise<Heat>;
  tree(sel: Selection, by: TreeOrder, min: number, limit: number, signal?: AbortSignal): Promise<Tree>;
  table(sel: Selection, query: TableQuery, signal?: AbortSignal): Promise<Table>;
  functionOf(sel: Selection, symbol: string, image: string, signal?: AbortSignal):
    Promise<FunctionAnswer>;
  code(sel: Selection, symbol: string, image: string, signal?: AbortSignal): Promise<Code>;
  quality(sel: Selection, signal?: AbortSignal): Promise<Quality>;
  text(sel: Selection, of: "folded" | "csv" | "text", by: string): Promise<string>;
  // Calls `heard` once per second while a recording runs. Returns how to end it.
  live(heard: (event: LiveEvent | null) => void): () => void;
}

// An error of the API, with its remedy.
export class ApiError extends Error {
  constructor(message: string, readonly fix = "", readonly status = 0) {
    super(message);
  }
}
