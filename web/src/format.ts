/* SPDX-License-Identifier: GPL-2.0-or-later */
// Numbers and names as text.

export function grouped(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

// Not more than five characters: 999, 12.3k, 4.5M.
export function brief(n: number): string {
  const units: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e4, "k"]];
  for (const [size, unit] of units)
    if (Math.abs(n) >= size) {
      const x = n / (unit === "k" ? 1e3 : size);
      return `${x.toFixed(Math.abs(x) < 100 ? 1 : 0)}${unit}`;
    }
  return String(Math.round(n));
}

export function percent(part: number, all: number): string {
  return `${(all ? part * 100 / all : 0).toFixed(2)} %`;
}

// A change in percentage points.
export function points(share: number): string {
  const n = share * 100;
  return `${n < 0 ? "\u2212" : "+"}${Math.abs(n).toFixed(2)}`;
}

export function duration(ns: number): string {
  const s = ns / 1e9;
  if (s >= 3600)
    return `${Math.floor(s / 3600)} h ${Math.floor(s % 3600 / 60)} min`;
  if (s >= 120)
    return `${Math.floor(s / 60)} min ${Math.floor(s % 60)} s`;
  if (s >= 1)
    return `${s.toFixed(s >= 10 ? 1 : 2)} s`;
  if (s >= 1e-3)
    return `${(s * 1e3).toFixed(s >= 0.1 ? 0 : 1)} ms`;
  return `${(s * 1e6).toFixed(0)} µs`;
}

// A point in time, as precise as `step` needs.
export function moment(ns: number, step: number): string {
  const digits = step >= 1e9 ? 0 : step >= 1e8 ? 1 : step >= 1e7 ? 2 : step >= 1e6 ? 3 : 6;
  return `${(ns / 1e9).toFixed(digits)} s`;
}

export function amount(n: number, unit: string | undefined): string {
  return unit === "ns" ? duration(n) : `${grouped(n)} ${n === 1 ? "sample" : "samples"}`;
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

export function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++)
    h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

// One cell of CSV (RFC 4180). Spreadsheets must not run a name as a formula.
export function csvCell(value: string | number): string {
  let text = String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text))
    text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}
