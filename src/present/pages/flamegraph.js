/* SPDX-License-Identifier: GPL-2.0-or-later */
// The page of "oprofile export flamegraph".  The element #data contains the whole profile (see
// flame_page.h).  Names are untrusted, so they are only drawn or inserted as text.
"use strict";
const ROW = 18, LEAST = 0.4, CHAR = 7, TABLE_ROWS = 300;
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const canvas = $("flames"), draw = canvas.getContext("2d"), scroll = $("scroll");
const count = data.up.length;
const parents = new Int32Array(count);
for (let i = 1; i < count; i++)
  parents[i] = i - data.up[i];
const KINDS = ["user", "kernel", "inlined", "unknown", "group"];
// state.level: the number of leading values of a row of data.who that determine its group.
const state = {event: 0, level: 0, flame: true, colours: "image", zoom: 0, at: 0, sort: "self",
  search: null};
// For heatmap.js and flamediff.js. `chosen`: which rows of data.who count (null: all); `painted` is
// called after each repaint; the others make the tree and the texts on it.
const hooks = {chosen: null, painted: () => {}, build, describe: describeSamples, label: nameOf,
  found: (sum, part) => `${part} (${sum} samples)`};
let tree = null, dirty = false;

function stored(key, value) {
  try {
    if (value === undefined)
      return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch (e) { /* some browsers have no storage for local files */ }
  return null;
}

// ---- the tree: the nodes of `data` with the counts of one event, below a node for each group ----

function groupName(who) {
  const [host, session, comm, pid, tid] = who;
  return [null, host, session, comm, `${comm} ${pid}`, `${comm} ${pid}/${tid}`][state.level];
}

function groups() {
  const all = new Map();
  data.who.forEach((who, i) => {
    if (hooks.chosen && !hooks.chosen(who))
      return;
    const key = JSON.stringify(who.slice(0, state.level));
    if (!all.has(key))
      all.set(key, {name: groupName(who), members: []});
    all.get(key).members.push(i);
  });
  return [...all.values()];
}

// Adds the rows of a group to its nodes: all samples, and those of the first session.
function addRows(members, own, base, mark, turn, nodes) {
  for (const i of members) {
    const rows = data.rows[i], first = data.who[i][1] === data.who[0][1];
    for (let r = 0, node = 0; r < rows.length; r += 3) {
      node += rows[r];
      if (rows[r + 1] !== state.event)
        continue;
      own[node] += rows[r + 2];
      if (first)
        base[node] += rows[r + 2];
      for (let up = node; mark[up] !== turn; up = parents[up]) {
        mark[up] = turn;
        nodes.push(up);
      }
    }
  }
}

function build() {
  const own = new Float64Array(count), base = new Float64Array(count);
  const mark = new Int32Array(count), place = new Int32Array(count);
  const t = {symbol: [-1], name: ["all"], parent: [0], self: [0], first: [0], source: [0]};
  groups().forEach((group, turn) => {
    const nodes = [];
    let top = 0;
    addRows(group.members, own, base, mark, turn + 1, nodes);
    nodes.sort((a, b) => a - b);
    for (const node of nodes) {
      if (node === 0 && !state.level) {
        t.self[0] += own[0];
        t.first[0] += base[0];
        place[0] = 0;
      } else {
        place[node] = t.symbol.length;
        t.symbol.push(node ? data.symbol[node] : -1);
        t.name.push(node ? null : group.name);
        t.parent.push(node ? place[parents[node]] : top);
        t.self.push(own[node]);
        t.first.push(base[node]);
        t.source.push(node);
      }
      own[node] = base[node] = 0;
    }
  });
  layOut(t);
  return t;
}

// Sums up totals from the leaves to the root, then computes positions: a node begins where its
// caller begins, or where the previous node with the same caller ends.
function layOut(t) {
  const n = t.symbol.length;
  t.total = Float64Array.from(t.self);
  t.before = Float64Array.from(t.first);
  t.x = new Float64Array(n);
  t.depth = new Int32Array(n);
  t.found = new Uint8Array(n);
  t.end = new Int32Array(n);
  for (let i = n - 1; i >= 0; i--) {
    t.end[i] = Math.max(t.end[i], i + 1);
    if (i) {
      t.total[t.parent[i]] += t.total[i];
      t.before[t.parent[i]] += t.before[i];
      t.end[t.parent[i]] = Math.max(t.end[t.parent[i]], t.end[i]);
    }
  }
  const next = new Float64Array(n);
  t.deepest = 0;
  for (let i = 1; i < n; i++) {
    const up = t.parent[i];
    t.x[i] = next[up];
    next[up] += t.total[i];
    next[i] = t.x[i];
    t.depth[i] = t.depth[up] + 1;
    t.deepest = Math.max(t.deepest, t.depth[i]);
  }
}

function nameOf(i) {
  return tree.symbol[i] < 0 ? tree.name[i] : data.symbols[tree.symbol[i]][0];
}

function imageOf(i) {
  return tree.symbol[i] < 0 ? "" : data.images[data.symbols[tree.symbol[i]][1]] || "";
}

function kindOf(i) {
  return tree.symbol[i] < 0 ? 4 : data.symbols[tree.symbol[i]][2];
}

// ---- colours ----

function hash(text) {
  let h = 2166136261;
  for (let i = 0; i < text.length; i++)
    h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  return h >>> 0;
}

const hues = data.images.map((name) => hash(name.slice(name.lastIndexOf("/") + 1)) % 360);
const warm = data.symbols.map((s) => hash(s[0]));

function isDark() {
  const list = document.documentElement.classList;
  return list.contains("dark") ||
    (!list.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
}

// Returns red for a larger share than in the first session, blue for a smaller one.
function difference(i) {
  const all = tree.total[0] - tree.before[0], first = tree.before[0];
  const share = all ? (tree.total[i] - tree.before[i]) / all : 0;
  const change = share - (first ? tree.before[i] / first : 0);
  const strength = Math.min(1, Math.abs(change) * 20) * 80;
  return `hsl(${change > 0 ? 5 : 220} ${strength.toFixed(0)}% ${isDark() ? 38 : 72}%)`;
}

const palette = {
  image: (i) => `hsl(${hues[data.symbols[tree.symbol[i]][1]] || 0} 55% ${isDark() ? 36 : 74}%)`,
  kind: (i) => `hsl(${[45, 14, 175, 0][kindOf(i)]} ${kindOf(i) === 3 ? 0 : 65}% ${isDark() ? 36 : 72}%)`,
  name: (i) => `hsl(${warm[tree.symbol[i]] % 55} 75% ${(isDark() ? 32 : 66) + warm[tree.symbol[i]] % 9}%)`,
  difference,
};

function colourOf(i) {
  if (tree.found[i])
    return isDark() ? "#a020a0" : "#ff8cff";
  if (tree.symbol[i] < 0 && state.colours !== "difference")
    return isDark() ? "#3a4048" : "#d0d6dc";
  return palette[state.colours](i);
}

// ---- drawing ----

function rows() {
  return tree.deepest + 1;
}

function yOf(depth) {
  const y = state.flame ? (rows() - 1 - depth) * ROW : depth * ROW;
  return y - scroll.scrollTop + (state.flame ? Math.max(0, scroll.clientHeight - rows() * ROW) : 0);
}

function scale() {
  return canvas.clientWidth / (tree.total[state.zoom] || 1);
}

// Returns the left edge and the width of a node on the screen, clipped to the canvas.
function span(i) {
  const left = (tree.x[i] - tree.x[state.zoom]) * scale();
  const begin = Math.max(0, left), end = Math.min(canvas.clientWidth, left + tree.total[i] * scale());
  return [begin, end - begin];
}

// Returns the visible nodes: those below the zoomed node, and its callers.
function* visible() {
  for (let up = state.zoom; up; up = tree.parent[up])
    yield tree.parent[up];
  const least = LEAST / scale();
  for (let i = state.zoom; i < tree.end[state.zoom];) {
    if (tree.total[i] < least) {
      i = tree.end[i];
      continue;
    }
    yield i++;
  }
}

// Clears the canvas and sets its size and the font size, in pixels of the page.
function makeSheet(sheet, ink, width, height, letters) {
  const ratio = devicePixelRatio || 1;
  sheet.style.width = `${width}px`;
  sheet.style.height = `${height}px`;
  sheet.width = width * ratio;
  sheet.height = height * ratio;
  ink.scale(ratio, ratio);
  ink.font = `${letters}px system-ui, sans-serif`;
  ink.textBaseline = "middle";
}

function paint() {
  dirty = false;
  const width = scroll.clientWidth, height = scroll.clientHeight;
  makeSheet(canvas, draw, width, height, 12);
  const text = isDark() ? "#e6ebf0" : "#14171c";
  for (const i of visible()) {
    const y = yOf(tree.depth[i]);
    if (y < -ROW || y > height)
      continue;
    const [x, w] = span(i);
    draw.globalAlpha = tree.depth[i] < tree.depth[state.zoom] ? 0.55 : 1;
    draw.fillStyle = colourOf(i);
    draw.fillRect(x, y, Math.max(w - (w > 2 ? 1 : 0), LEAST), ROW - 1);
    if (w > 3 * CHAR) {
      const room = Math.floor((w - 6) / CHAR), name = hooks.label(i);
      draw.fillStyle = text;
      draw.fillText(name.length > room ? `${name.slice(0, room - 1)}\u2026` : name, x + 3,
        y + ROW / 2, w - 4);
    }
    if (i === state.at) {
      draw.strokeStyle = text;
      draw.lineWidth = 2;
      draw.strokeRect(x + 1, y + 1, Math.max(w - 3, 1), ROW - 3);
    }
  }
  draw.globalAlpha = 1;
  hooks.painted();
}

function repaint() {
  if (!dirty)
    requestAnimationFrame(paint);
  dirty = true;
}

// ---- the description of a node ----

// A change in percentage points.
function points(n) {
  return `${n < 0 ? "-" : "+"}${Math.abs(n).toFixed(2)}`;
}

function share(n) {
  const all = tree.total[0];
  return `${(all ? n * 100 / all : 0).toFixed(2)} %`;
}

function describeSamples(i) {
  const image = imageOf(i);
  let text = `${nameOf(i)}${image ? `, ${image}` : ""}: ${tree.total[i]} samples, ` +
    `${share(tree.total[i])}; self ${tree.self[i]}, ${share(tree.self[i])}`;
  if (state.colours === "difference" && data.sessions > 1)
    text += `; in the first session ${tree.before[i]}, in others ${tree.total[i] - tree.before[i]}`;
  return text;
}

function describe(i) {
  return hooks.describe(i);
}

function point(i, scrollTo) {
  state.at = i;
  $("detail").textContent = describe(i);
  if (scrollTo) {
    const y = yOf(tree.depth[i]);
    if (y < 0 || y > scroll.clientHeight - ROW)
      scroll.scrollTop += y - scroll.clientHeight / 2;
  }
  repaint();
}

function zoom(i) {
  state.zoom = i;
  point(i, true);
  table();
}

function hit(event) {
  const box = canvas.getBoundingClientRect();
  const x = event.clientX - box.left, y = event.clientY - box.top;
  for (const i of visible()) {
    const top = yOf(tree.depth[i]), [left, width] = span(i);
    if (y >= top && y < top + ROW && x >= left && x < left + Math.max(width, LEAST))
      return i;
  }
  return -1;
}

// ---- search ----

function matcher(text) {
  try {
    const pattern = new RegExp(text, "i");
    return (name) => pattern.test(name);
  } catch (e) {
    return (name) => name.toLowerCase().includes(text.toLowerCase());
  }
}

// Shows the share of matching functions in the zoomed node. A match that was called by another
// match is counted once.
function search() {
  const text = $("search").value, matches = text ? matcher(text) : null;
  const known = matches ? data.symbols.map((s) => matches(s[0])) : [];
  const inside = new Uint8Array(tree.symbol.length);
  let sum = 0, nr = 0;
  tree.found.fill(0);
  for (let i = 0; matches && i < tree.symbol.length; i++) {
    const symbol = tree.symbol[i], below = i > 0 && inside[tree.parent[i]];
    const found = symbol < 0 ? matches(tree.name[i]) && i > 0 : known[symbol];
    tree.found[i] = found;
    inside[i] = found || below;
    if (found && !below && i >= state.zoom && i < tree.end[state.zoom])
      sum += tree.total[i];
    nr += found;
  }
  const all = tree.total[state.zoom] || 1;
  const part = `${(sum * 100 / all).toFixed(2)} %`;
  $("found").textContent = text ? `${hooks.found(sum, part)}, ${nr} frames` : "";
  repaint();
}

// ---- the table ----

// Sums up the functions below the zoomed node: their samples, or in a difference their changes. A
// recursive call is counted once in `total`.
function sums() {
  const from = tree.change || tree;
  const nr = data.symbols.length, self = new Float64Array(nr), total = new Float64Array(nr);
  const open = new Int32Array(nr), path = [];
  for (let i = state.zoom; i < tree.end[state.zoom]; i++) {
    while (path.length && tree.end[path[path.length - 1]] <= i)
      open[tree.symbol[path.pop()]]--;
    const symbol = tree.symbol[i];
    if (symbol < 0)
      continue;
    self[symbol] += from.self[i];
    if (!open[symbol]++)
      total[symbol] += from.total[i];
    path.push(i);
  }
  return {self, total};
}

function cell(row, text) {
  const made = document.createElement("td");
  made.textContent = text;
  row.append(made);
  return made;
}

function table() {
  const body = $("rows");
  body.replaceChildren();
  if ($("side").hidden)
    return;
  const sum = sums(), by = sum[state.sort];
  const order = [...by.keys()].filter((s) => by[s])
    .sort((a, b) => Math.abs(by[b]) - Math.abs(by[a]) || a - b);
  const amount = tree.change ? points : share;
  for (const symbol of order.slice(0, TABLE_ROWS)) {
    const row = document.createElement("tr");
    cell(row, amount(sum.self[symbol]));
    cell(row, amount(sum.total[symbol]));
    const name = document.createElement("button");
    name.textContent = data.symbols[symbol][0];
    name.title = data.images[data.symbols[symbol][1]] || "";
    name.addEventListener("click", () => {
      $("search").value = `^${data.symbols[symbol][0].replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`;
      search();
    });
    cell(row, "").append(name);
    body.append(row);
  }
  for (const name of ["self", "total"])
    $(`by-${name}`).setAttribute("aria-sort", state.sort === name ? "descending" : "none");
}

// ---- the rest ----

// Scrolls to the root.
function toRoot() {
  $("tall").style.height = `${rows() * ROW}px`;
  scroll.scrollTop = state.flame ? rows() * ROW : 0;
}

function rebuild() {
  tree = hooks.build();
  state.zoom = state.at = 0;
  search();
  table();
  point(0);
  toRoot();
}

function theme(name) {
  document.documentElement.classList.remove("light", "dark");
  if (name)
    document.documentElement.classList.add(name);
  if (tree)
    repaint();
}

function otherTheme() {
  const name = isDark() ? "light" : "dark";
  theme(name);
  stored("oprofile-theme", name);
}

function turn() {
  state.flame = !state.flame;
  $("turn").setAttribute("aria-pressed", String(!state.flame));
  repaint();
  toRoot();
}

function help() {
  $("help").showModal();
}

// Returns the previous (by < 0) or next (by > 0) node with the same caller.
function sibling(i, by) {
  const up = tree.parent[i];
  let last = -1;
  for (let k = up + 1; i && k < tree.end[up]; k = tree.end[k]) {
    if (by < 0 && k === i)
      return last < 0 ? i : last;
    if (by > 0 && last === i)
      return k;
    last = k;
  }
  return i;
}

// Returns the callee with the most samples.
function callee(i) {
  let best = i;
  for (let k = i + 1; k < tree.end[i]; k = tree.end[k])
    if (best === i || tree.total[k] > tree.total[best])
      best = k;
  return best;
}

const outwards = () => point(tree.parent[state.at], true);
const inwards = () => point(callee(state.at), true);
const keys = {
  ArrowUp: () => state.flame ? inwards() : outwards(),
  ArrowDown: () => state.flame ? outwards() : inwards(),
  ArrowLeft: () => point(sibling(state.at, -1), true),
  ArrowRight: () => point(sibling(state.at, 1), true),
  Enter: () => zoom(state.at),
  Home: () => zoom(0),
  Escape: () => zoom(0),
  u: () => zoom(tree.parent[state.zoom]),
  i: turn, t: otherTheme, "?": help, "/": () => $("search").focus(),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || $("help").open)
    return;
  if (event.target.matches("input, select")) {
    if (event.key === "Escape") {
      $("search").value = "";
      search();
      canvas.focus();
    }
    return;
  }
  const own = event.target.matches("button, a") && event.key === "Enter";
  if (keys[event.key] && !own) {
    keys[event.key]();
    event.preventDefault();
  }
});

canvas.addEventListener("click", (event) => {
  const i = hit(event);
  if (i >= 0)
    zoom(i);
});
canvas.addEventListener("mousemove", (event) => {
  const i = hit(event);
  if (i >= 0 && i !== state.at)
    point(i);
});
scroll.addEventListener("scroll", repaint);
addEventListener("resize", repaint);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", repaint);
$("search").addEventListener("input", search);
$("reset").addEventListener("click", () => zoom(0));
$("turn").addEventListener("click", turn);
$("theme").addEventListener("click", otherTheme);
$("asked").addEventListener("click", help);
$("tables").addEventListener("click", () => {
  $("side").hidden = !$("side").hidden;
  $("tables").setAttribute("aria-pressed", String(!$("side").hidden));
  table();
  repaint();
});
for (const name of ["self", "total"])
  $(`by-${name}`).firstElementChild.addEventListener("click", () => {
    state.sort = name;
    table();
  });

function choice(select, names, change) {
  names.forEach(([value, text]) => {
    const option = document.createElement("option");
    option.value = value;
    option.textContent = text;
    $(select).append(option);
  });
  $(select).parentElement.hidden = names.length < 2;
  $(select).addEventListener("change", () => change($(select).value));
}

choice("event", data.events.map((e, i) => [i, e]), (value) => {
  state.event = Number(value);
  rebuild();
});
choice("merge", [[0, "everything"], [1, "by host"], [2, "by session"], [3, "by command"],
  [4, "by process"], [5, "by thread"]].filter(([n]) => n <= data.levels), (value) => {
  state.level = Number(value);
  rebuild();
});
choice("colours", [["image", "by image"], ["kind", "kernel, user, inlined"], ["name", "by name"]]
  .concat(data.sessions > 1 ? [["difference", "difference to the first session"]] : []), (value) => {
  state.colours = value;
  repaint();
  point(state.at);
});
theme(stored("oprofile-theme"));
rebuild();
canvas.focus();
document.documentElement.dataset.ready = "1";
// For tests: the positions of functions on the screen and the descriptions of nodes.
window.flames = {state, describe, colourOf, nameOf, span, yOf, kinds: KINDS, tree: () => tree,
  where: (name) => [...visible()].filter((i) => nameOf(i) === name)};
