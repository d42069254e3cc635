/* SPDX-License-Identifier: GPL-2.0-or-later */
// The flame graph of a difference, "oprofile diff --flamegraph".  data.diff contains the shares of
// both sides (see flame_diff.c).  Runs after flamegraph.js and uses its names.
"use strict";
const diff = data.diff, BASE = 0, NEW = 1, LOW = 2, HIGH = 3, VERDICT = 4, TESTED = 5;
const [noise, slower, faster, appeared, gone, elsewhere, transient] = diff.verdicts.keys();
const WIDTHS = [["new", "new side"], ["base", "base side"], ["both", "larger of both"]];
const MARKS = {[slower]: "\u25b2", [appeared]: "\u25b2", [faster]: "\u25bc", [gone]: "\u25bc",
  [elsewhere]: "\u2194", [transient]: "~"};
state.width = "new";
state.colours = "verdict";

const changeOf = (row) => row[NEW] - row[BASE];

// ---- the tree: all nodes of both sides, with the widths of the chosen side ----

// Returns what is left of each node's share without its callees.
function ownShares(side) {
  const own = Float64Array.from(diff.nodes, (row) => row[side]);
  for (let i = 1; i < count; i++)
    own[parents[i]] -= diff.nodes[i][side];
  // Shares have six digits, so a difference of two can be slightly below 0.
  return own.map((share) => Math.max(share, 0));
}

const own = [BASE, NEW].map(ownShares);

hooks.build = () => {
  const t = {symbol: Int32Array.from(data.symbol), name: ["all"], parent: parents, first: own[BASE]};
  t.symbol[0] = -1;
  t.self = {new: own[NEW], base: own[BASE],
    both: own[NEW].map((share, i) => Math.max(share, own[BASE][i]))}[state.width];
  layOut(t);
  t.change = {self: own[NEW].map((share, i) => share - own[BASE][i]),
    total: Float64Array.from(diff.nodes, changeOf)};
  return t;
};

// ---- texts ----

const percent = (n) => `${n.toFixed(2)} %`;

function describeShares(row) {
  const relative = row[BASE] > 0 ? `, ${points(100 * changeOf(row) / row[BASE])} % of the base` : "";
  return `base ${percent(row[BASE])}, new ${percent(row[NEW])}, change ${points(changeOf(row))} points${relative}`;
}

// The root of shares has no interval: both sides are 100 %.
function describeVerdict(row) {
  if (row[LOW] === 0 && row[HIGH] === 0)
    return "";
  const interval = ` (${diff.confidence} % interval ${points(row[LOW])} .. ${points(row[HIGH])})`;
  return `${interval}: ${row[TESTED] ? diff.verdicts[row[VERDICT]] : "too few samples to decide"}`;
}

hooks.describe = (i) => {
  const image = imageOf(i), row = diff.nodes[i], self = diff.self[i];
  let text = `${nameOf(i)}${image ? `, ${image}` : ""}: ${describeShares(row)}${describeVerdict(row)}`;
  if (self && tree.end[i] > i + 1)
    text += `; self: ${describeShares(self)}${describeVerdict(self)}`;
  return text;
};
hooks.label = (i) => {
  const mark = MARKS[diff.nodes[i][VERDICT]];
  return mark ? `${mark} ${nameOf(i)}` : nameOf(i);
};
hooks.found = (sum, part) => part;

// ---- colours: orange and blue, which are distinct for colour-blind readers also ----

const largest = (rows) => rows.reduce((most, row) => Math.max(most, Math.abs(changeOf(row))), 0);
const LARGEST = largest(diff.nodes.filter((row) => row[VERDICT] !== noise)) || largest(diff.nodes) || 1;

function changeColour(change) {
  const strength = Math.sqrt(Math.min(1, Math.abs(change) / LARGEST));
  const [hue, light] = change > 0 ? [26, isDark() ? 20 + 15 * strength : 90 - 30 * strength]
    : [212, isDark() ? 22 + 18 * strength : 91 - 27 * strength];
  return `hsl(${hue} ${(25 + 65 * strength).toFixed(0)}% ${light.toFixed(1)}%)`;
}

const noiseColour = () => isDark() ? "#3a4048" : "#d0d6dc";
const movedColour = () => `hsl(54 ${isDark() ? "45% 24%" : "65% 80%"})`;

palette.verdict = (i) => {
  const verdict = diff.nodes[i][VERDICT];
  return verdict === noise ? noiseColour() : verdict === elsewhere || verdict === transient
    ? movedColour() : changeColour(changeOf(diff.nodes[i]));
};
palette.change = (i) => changeColour(changeOf(diff.nodes[i]));

const legend = [
  [`\u25bc faster, gone ${points(-LARGEST)}`, [-1, -0.4, -0.1].map((k) => () => changeColour(k * LARGEST))],
  ["noise", [noiseColour]],
  [`\u25b2 slower, new ${points(LARGEST)} points`, [0.1, 0.4, 1].map((k) => () => changeColour(k * LARGEST))],
  ["\u2194 moved, ~ transient", [movedColour]],
];
const swatches = [];

function makeLegend() {
  for (const [text, colours] of legend) {
    const entry = document.createElement("span");
    for (const colour of colours) {
      const swatch = document.createElement("i");
      swatches.push([swatch, colour]);
      entry.append(swatch);
    }
    entry.append(` ${text}`);
    $("legend").append(entry);
  }
  $("legend").setAttribute("aria-label", `Colours: ${legend.map(([text]) => text).join(", ")}`);
}

hooks.painted = () => {
  $("legend").hidden = !["verdict", "change"].includes(state.colours);
  for (const [swatch, colour] of swatches)
    swatch.style.backgroundColor = colour();
};

// ---- the rest of the page ----

function aboutSides() {
  const about = ([runs, samples]) => `${runs} ${runs === 1 ? "run" : "runs"}, ${samples} samples`;
  $("sides").textContent = `base: ${about(diff.sides[BASE])}; new: ${about(diff.sides[NEW])}`;
  const lines = [`values: ${diff.unit}`, `base: ${diff.sides[BASE].slice(2).join(", ")}`,
    `new: ${diff.sides[NEW].slice(2).join(", ")}`, ...diff.notes];
  for (const line of lines) {
    const item = document.createElement("li");
    item.textContent = line;
    $("notes").append(item);
  }
}

// Keeps the zoomed function, which is in the tree of every side.
function useWidths(name) {
  const {zoom: zoomed, at} = state;
  state.width = name;
  $("width").value = name;
  tree = hooks.build();
  zoom(zoomed);
  point(at, true);
  search();
}

function makeWidths() {
  const label = document.createElement("label"), select = document.createElement("select");
  select.id = "width";
  label.title = "the side whose shares are the widths (w)";
  label.append("Widths ", select);
  $("reset").before(label);
  choice("width", WIDTHS, useWidths);
  keys.w = () => useWidths(WIDTHS[(WIDTHS.findIndex(([name]) => name === state.width) + 1) % 3][0]);
}

function makeColours() {
  const kind = [...$("colours").options].find((option) => option.value === "kind");
  kind.remove();
  choice("colours", [["verdict", "by change, if significant"], ["change", "by change"]], () => {});
  $("colours").prepend(...[...$("colours").options].slice(-2));
  $("colours").value = state.colours;
}

function addHelp() {
  const key = document.createElement("kbd"), term = document.createElement("dt"),
    text = document.createElement("dd");
  key.textContent = "w";
  term.append(key);
  text.textContent = "widths of the new side, the base side, or the larger of both";
  $("help").querySelector("dl").append(term, text);
}

makeLegend();
aboutSides();
makeWidths();
makeColours();
addHelp();
$("by-self").firstElementChild.textContent = "\u0394 self";
$("by-total").firstElementChild.textContent = "\u0394 total";
state.sort = "self";
rebuild();
// For tests.
window.flamediff = {useWidths, largest: LARGEST};
