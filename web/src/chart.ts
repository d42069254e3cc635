/* SPDX-License-Identifier: GPL-2.0-or-later */
// Bars over time and heat maps.
import { isDark } from "./colours";
import { sheet } from "./dom";
import { Heat } from "./types";

export interface HeatScale {
  most: number; // samples of the darkest cell
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// `most`: the count of a bar of full height; by default the largest.
export function drawBars(canvas: HTMLCanvasElement, width: number, height: number, bins: number[],
  lost?: number[], most = 0): void {
  const ink = sheet(canvas, width, height), wide = width / Math.max(1, bins.length);
  const top = most || Math.max(1, ...bins);
  ink.fillStyle = colour("--bar");
  ink.beginPath();
  ink.moveTo(0, height);
  // Neighbouring bars form one area, so that no gaps flicker between them.
  bins.forEach((n, i) => {
    const y = n ? Math.min(height - 1, height - n / top * (height - 2)) : height;
    ink.lineTo(i * wide, y);
    ink.lineTo((i + 1) * wide, y);
  });
  ink.lineTo(width, height);
  ink.fill();
  ink.fillStyle = colour("--bad");
  (lost ?? []).forEach((n, i) => {
    if (n)
      ink.fillRect(i * wide, 0, Math.max(wide, 2), 5);
  });
}

// The cells fill the canvas, so a short recording is as large as a long one.
export function drawHeat(canvas: HTMLCanvasElement, width: number, height: number, heat: Heat): HeatScale {
  const ink = sheet(canvas, width, height), wide = width / Math.max(1, heat.columns);
  const high = height / Math.max(1, heat.rows), dark = isDark();
  let most = 0;
  for (const [, , n] of heat.cells)
    most = Math.max(most, n);
  ink.fillStyle = dark ? "hsl(215 15% 14%)" : "hsl(45 20% 96%)";
  ink.fillRect(0, 0, width, height);
  for (const [column, row, n] of heat.cells) {
    const k = Math.sqrt(n / (most || 1));
    ink.fillStyle = dark ? `hsl(${45 - 20 * k} ${40 + 55 * k}% ${16 + 54 * k}%)`
      : `hsl(${45 - 25 * k} ${60 + 35 * k}% ${90 - 55 * k}%)`;
    ink.fillRect(column * wide, height - (row + 1) * high, wide - (wide > 4 ? 1 : 0), high - (high > 4 ? 1 : 0));
  }
  return { most };
}
