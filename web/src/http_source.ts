/* SPDX-License-Identifier: GPL-2.0-or-later */
// The data of the page, from the server that delivered the page.
import {
  ApiError, Code, EventList, FILTERS, FunctionAnswer, Heat, Info, LiveEvent, ProcessRow, Quality,
  Recorder, RecordAction, RecordSettings, RecordStatus, Selection, Source, Table, TableQuery, Timeline,
  Tree, TreeOrder, Values,
} from "./types";

type Parameters = Record<string, string | number | undefined>;
const API = "api/1/";

function query(sel: Selection | null, more: Parameters): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(more))
    if (value !== undefined && value !== "")
      q.append(name, String(value));
  if (sel) {
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
  const text = q.toString();
  return text ? `?${text}` : "";
}

async function failure(answer: Response): Promise<ApiError> {
  const text = await answer.text();
  try {
    const { error, fix } = JSON.parse(text) as { error?: string; fix?: string };
    if (error)
      return new ApiError(error, fix, answer.status);
  } catch {
    // Not JSON: show the text itself.
  }
  return new ApiError(`The server answered ${answer.status}: ${text.slice(0, 200)}`, "", answer.status);
}

async function request(path: string, init: RequestInit): Promise<Response> {
  let answer;
  try {
    answer = await fetch(API + path, { cache: "no-store", credentials: "same-origin", ...init });
  } catch (e) {
    if (init.signal?.aborted)
      throw e;
    throw new ApiError("The server does not answer.", "Start `oprofile view` again.");
  }
  if (!answer.ok)
    throw await failure(answer);
  return answer;
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await request(path, { signal })).json() as Promise<T>;
}

async function post<T>(path: string, body: unknown): Promise<T> {
  const answer = await request(path, {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}),
  });
  const text = await answer.text();
  return (text ? JSON.parse(text) : {}) as T;
}

class HttpRecorder implements Recorder {
  events(): Promise<EventList> {
    return get("record/events");
  }

  processes(): Promise<ProcessRow[]> {
    return get("record/processes");
  }

  settings(): Promise<Partial<RecordSettings>> {
    return get("record/settings");
  }

  async keep(settings: RecordSettings): Promise<void> {
    await post("record/settings", settings);
  }

  status(): Promise<RecordStatus> {
    return get("record/status");
  }

  act(action: RecordAction, body: unknown): Promise<RecordStatus> {
    return post(`record/${action}`, body);
  }
}

export class HttpSource implements Source {
  readonly keys = ["symbol", "image", "comm", "pid", "tid", "cpu", "cgroup", "line"];
  readonly recorder: Recorder = new HttpRecorder();

  info(signal?: AbortSignal): Promise<Info> {
    return get("info", signal);
  }

  values(sel: Selection, of: string, top: number, prefix: string, signal?: AbortSignal): Promise<Values> {
    return get(`values${query(sel, { of, top, prefix })}`, signal);
  }

  timeline(sel: Selection, bins: number, tracks: string, top: number, signal?: AbortSignal):
    Promise<Timeline> {
    return get(`timeline${query(sel, { bins, tracks, top })}`, signal);
  }

  heat(sel: Selection, columns: number, rows: number, signal?: AbortSignal): Promise<Heat> {
    return get(`heat${query(sel, { columns, rows })}`, signal);
  }

  tree(sel: Selection, by: TreeOrder, min: number, limit: number, signal?: AbortSignal): Promise<Tree> {
    return get(`tree${query(sel, { by, min, limit })}`, signal);
  }

  table(sel: Selection, q: TableQuery, signal?: AbortSignal): Promise<Table> {
    return get(`table${query(sel, { by: q.by, sort: q.sort, top: q.top, from_row: q.from_row })}`,
      signal);
  }

  functionOf(sel: Selection, symbol: string, image: string, signal?: AbortSignal):
    Promise<FunctionAnswer> {
    return get(`function${functionQuery(sel, symbol, image)}`, signal);
  }

  code(sel: Selection, symbol: string, image: string, signal?: AbortSignal): Promise<Code> {
    return get(`source${functionQuery(sel, symbol, image)}`, signal);
  }

  quality(sel: Selection, signal?: AbortSignal): Promise<Quality> {
    return get(`quality${query(sel, {})}`, signal);
  }

  async text(sel: Selection, of: "folded" | "csv" | "text", by: string): Promise<string> {
    return (await request(`text${query(sel, { of, by })}`, {})).text();
  }

  live(heard: (event: LiveEvent | null) => void): () => void {
    const stream = new EventSource(`${API}live`);
    stream.onmessage = (message) => heard(JSON.parse(message.data as string) as LiveEvent);
    stream.onerror = () => heard(null);
    return () => stream.close();
  }
}

// In these queries, `symbol` and `image` are the function, so filters by own code are left out.
function functionQuery(sel: Selection, symbol: string, image: string): string {
  const filters = { ...sel.filters, symbol: undefined, image: undefined };
  return query({ ...sel, filters }, { symbol, image });
}
