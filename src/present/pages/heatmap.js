/* SPDX-License-Identifier: GPL-2.0-or-later */
// The heat map above a flame graph, "oprofile export heatmap".  data.heat and data.who contain its
// cells (see heatmap.c).  Runs after flamegraph.js and uses its names.
"use strict";
const heat = data.heat, map = $("heat"), pen = map.getContext("2d");
const offsets = heat.rows === "offset";
// Time continues from the top of a column at the bottom of the next one; spans follow that order.
const ordered = offsets && heat.column_ms === heat.nr_rows * heat.row_ms;
const named = !offsets && heat.nr_rows <= 24;
const CELL = offsets ? 3 : named ? 14 : 5, WIDEST = 24, NAMES = named ? 120 : 0, AXIS = 16;
// The cell that the keys move, the cell where a span begins, and the span: its first and last
// [column, row].
const chosen = {cursor: null, anchor: null, span: null, dragging: false};
let counts = null, most = 0, paintedAs = "";

function cellCounts() {
  counts = new Float64Array(heat.columns * heat.nr_rows);
  most = 0;
  data.who.forEach(([column, row], i) => {
    const rows = data.rows[i], at = column * heat.nr_rows + row;
    for (let r = 0; r < rows.length; r += 3)
      if (rows[r + 1] === state.event)
        counts[at] += rows[r + 2];
    most = Math.max(most, counts[at]);
  });
}

// ---- spans ----

const order = ([column, row]) => column * heat.nr_rows + row;

function inSpan(cell, span) {
  if (!span)
    return true;
  const [a, b] = span;
  if (ordered)
    return order(cell) >= Math.min(order(a), order(b)) && order(cell) <= Math.max(order(a), order(b));
  return [0, 1].every((k) => cell[k] >= Math.min(a[k], b[k]) && cell[k] <= Math.max(a[k], b[k]));
}

const seconds = (ms) => `${(ms / 1000).toFixed(heat.column_ms % 1000 || ordered ? 2 : 0)} s`;
const rowName = (row) => offsets ? `${row * heat.row_ms} ms` : heat.names[row];

function spanName([a, b]) {
  if (ordered) {
    const [first, last] = [a, b].map(order).sort((x, y) => x - y);
    return `${seconds(first * heat.row_ms)} to ${seconds((last + 1) * heat.row_ms)}`;
  }
  const low = [0, 1].map((k) => Math.min(a[k], b[k])), high = [0, 1].map((k) => Math.max(a[k], b[k]));
  const time = `${seconds(low[0] * heat.column_ms)} to ${seconds((high[0] + 1) * heat.column_ms)}`;
  if (offsets)
    return `${time}, ${rowName(low[1])} to ${rowName(high[1] + 1)} of each second`;
  return `${time}, ${rowName(low[1])}${low[1] === high[1] ? "" : ` to ${rowName(high[1])}`}`;
}

function describeSpan() {
  let all = 0, inside = 0;
  for (let i = 0; i < counts.length; i++) {
    all += counts[i];
    if (inSpan([Math.floor(i / heat.nr_rows), i % heat.nr_rows], chosen.span))
      inside += counts[i];
  }
  const share = `${inside} samples, ${(all ? inside * 100 / all : 0).toFixed(2)} %`;
  $("span").textContent = chosen.span ? `${spanName(chosen.span)}: ${share}`
    : `All of it: ${share}; at most ${most} in a cell. Drag, or Shift and arrow keys, to choose a span.`;
}

function choose(span) {
  chosen.span = span;
  hooks.chosen = span ? (cell) => inSpan(cell, span) : null;
  rebuild();
  describeSpan();
  paintHeat();
}

function pointAt(cell) {
  chosen.cursor = cell;
  $("span").textContent = `${spanName([cell, cell])}: ${counts[order(cell)]} samples`;
  paintHeat();
}

// ---- drawing ----

function columnWidth() {
  const room = $("heat-side").clientWidth - 26 - NAMES;
  return Math.min(WIDEST, room / heat.columns);
}

const top_ = (row) => (offsets ? heat.nr_rows - 1 - row : row) * CELL;

function heatColour(n) {
  const strength = Math.sqrt(n / most);
  return isDark() ? `hsl(${40 - 34 * strength} 85% ${16 + 46 * strength}%)`
    : `hsl(${40 - 34 * strength} 90% ${92 - 50 * strength}%)`;
}

function paintAxis(wide, text) {
  pen.fillStyle = text;
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((s) => s * wide > 70) || 1000;
  for (let column = 0; column < heat.columns; column += step)
    pen.fillText(`${column * heat.column_ms / 1000} s`, NAMES + column * wide, heat.nr_rows * CELL + AXIS / 2);
  for (let row = 0; named && row < heat.nr_rows; row++)
    pen.fillText(heat.names[row], 0, top_(row) + CELL / 2, NAMES - 6);
}

function paintHeat() {
  const wide = columnWidth(), text = isDark() ? "#d6dbe1" : "#1b1f24";
  const width = NAMES + heat.columns * wide + 1, height = heat.nr_rows * CELL + AXIS;
  makeSheet(map, pen, width, height, 11);
  pen.fillStyle = isDark() ? "#1d2229" : "#f3f5f7";
  pen.fillRect(NAMES, 0, heat.columns * wide, heat.nr_rows * CELL);
  for (const [column, row] of data.who) {
    const n = counts[column * heat.nr_rows + row];
    if (!n)
      continue;
    pen.globalAlpha = inSpan([column, row], chosen.span) ? 1 : 0.3;
    pen.fillStyle = heatColour(n);
    pen.fillRect(NAMES + column * wide, top_(row), wide - (wide > 4 ? 1 : 0), CELL - (CELL > 4 ? 1 : 0));
  }
  pen.globalAlpha = 1;
  paintAxis(wide, text);
  if (chosen.cursor) {
    pen.strokeStyle = text;
    pen.strokeRect(NAMES + chosen.cursor[0] * wide + 0.5, top_(chosen.cursor[1]) + 0.5,
      Math.max(wide - 1, 1), CELL - 1);
  }
}

// Repaints if the theme, size or event of the flame graph has changed.
hooks.painted = () => {
  const as = [isDark(), $("heat-side").clientWidth, devicePixelRatio, state.event].join(" ");
  if (as === paintedAs)
    return;
  paintedAs = as;
  cellCounts();
  describeSpan();
  paintHeat();
};

// ---- mouse and keys ----

function cellAt(event) {
  const box = map.getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left - NAMES) / columnWidth());
  const row = Math.floor((event.clientY - box.top) / CELL);
  const limit = (n, nr) => Math.min(Math.max(n, 0), nr - 1);
  return [limit(column, heat.columns), limit(offsets ? heat.nr_rows - 1 - row : row, heat.nr_rows)];
}

map.addEventListener("pointerdown", (event) => {
  chosen.anchor = chosen.cursor = cellAt(event);
  chosen.dragging = true;
  if (event.pointerId !== undefined && event.isTrusted)
    map.setPointerCapture(event.pointerId);
});
map.addEventListener("pointermove", (event) => {
  const cell = cellAt(event);
  if (!chosen.dragging) {
    $("span").textContent = `${spanName([cell, cell])}: ${counts[order(cell)]} samples`;
    return;
  }
  chosen.cursor = cell;
  chosen.span = [chosen.anchor, cell];
  describeSpan();
  paintHeat();
});
map.addEventListener("pointerup", (event) => {
  if (chosen.dragging)
    choose([chosen.anchor, cellAt(event)]);
  chosen.dragging = false;
});
map.addEventListener("pointerleave", () => {
  if (!chosen.dragging)
    describeSpan();
});

const up = offsets ? 1 : -1;
const moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, up], ArrowDown: [0, -up]};

// Moves a cell. Beyond the last offset of a second, continues with the next second.
function moved([column, row], [right, rise]) {
  const limit = heat.columns * heat.nr_rows - 1;
  if (ordered) {
    const at = Math.min(Math.max(column * heat.nr_rows + row + right * heat.nr_rows + rise, 0), limit);
    return [Math.floor(at / heat.nr_rows), at % heat.nr_rows];
  }
  return [Math.min(Math.max(column + right, 0), heat.columns - 1),
    Math.min(Math.max(row + rise, 0), heat.nr_rows - 1)];
}

map.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey)
    return;
  const from = chosen.cursor || [0, 0], move = moves[event.key];
  if (move && event.shiftKey) {
    chosen.anchor = chosen.anchor || from;
    chosen.cursor = moved(from, move);
    choose([chosen.anchor, chosen.cursor]);
  } else if (move) {
    chosen.anchor = null;
    pointAt(chosen.cursor ? moved(from, move) : from);
  } else if (event.key === "Enter") {
    chosen.anchor = from;
    choose([from, from]);
  } else if (event.key === "Escape") {
    chosen.anchor = chosen.cursor = null;
    choose(null);
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
});

cellCounts();
describeSpan();
map.focus();
repaint();
// For tests: the position of a cell on the screen.
window.heatmap = {chosen, counts: () => counts, at: ([column, row]) => {
  const box = map.getBoundingClientRect();
  return [box.left + NAMES + (column + 0.5) * columnWidth(), box.top + top_(row) + CELL / 2];
}};
