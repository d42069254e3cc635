/* SPDX-License-Identifier: GPL-2.0-or-later */
// Keys, themes and filters for the pages of opannotate --html. The pages also work without scripts.
"use strict";
const root = document.documentElement;
const help = `<dl><dt><kbd>n</kbd> <kbd>p</kbd><dd>next, previous line with samples
<dt><kbd>h</kbd><dd>the hottest <dt><kbd>Enter</kbd><dd>open: where it goes, and its instructions
<dt><kbd>a</kbd><dd>its hottest instruction, or the source of an instruction
<dt><kbd>e</kbd><dd>open or close all <dt><kbd>u</kbd><dd>the index <dt><kbd>/</kbd><dd>filter
<dt><kbd>t</kbd><dd>light or dark <dt><kbd>?</kbd><dd>this</dl>`;

// Reads or writes a setting. Some browsers have no storage for local files.
function stored(key, value) {
  try {
    if (value === undefined)
      return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch (e) { /* without storage, use the theme of the browser */ }
  return null;
}

function theme(name) {
  root.classList.remove("light", "dark");
  if (name)
    root.classList.add(name);
}

function otherTheme() {
  const dark = root.classList.contains("dark") || (!root.classList.contains("light") &&
    matchMedia("(prefers-color-scheme: dark)").matches);
  theme(dark ? "light" : "dark");
  stored("oprofile-theme", dark ? "light" : "dark");
}

theme(stored("oprofile-theme"));

const hot = [...document.querySelectorAll(".l.s")];
let at = -1;

function show(element) {
  const head = element.querySelector("summary") || element;
  at = hot.indexOf(element);
  head.scrollIntoView({block: "center"});
  head.focus({preventScroll: true});
}

// Opens the element that the address refers to, scrolls to it, and focuses it if it has samples.
function followHash() {
  const id = decodeURIComponent(location.hash.slice(1));
  const element = id && document.getElementById(id);
  if (!element)
    return;
  if (element.tagName === "DETAILS")
    element.open = true;
  element.scrollIntoView({block: "center"});
  at = hot.indexOf(element);
  if (at >= 0)
    (element.querySelector("summary") || element).focus({preventScroll: true});
}

function step(by) {
  if (!hot.length)
    return;
  at = at < 0 ? (by > 0 ? 0 : hot.length - 1) : (at + by + hot.length) % hot.length;
  show(hot[at]);
}

function follow(selector) {
  const from = at >= 0 ? hot[at] : document;
  const link = from.querySelector(selector);
  if (link)
    location.href = link.href;
}

function toggleAll() {
  const all = document.querySelectorAll("details.l");
  const open = [...all].some(d => !d.open);
  for (const d of all)
    d.open = open;
}

function showHelp() {
  const dialog = document.createElement("dialog");
  dialog.innerHTML = help;
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  dialog.showModal();
}

const search = document.querySelector("input[type=search]");

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of document.querySelectorAll("tbody tr")) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every(word => text.includes(word));
  }
}

const keys = {
  n: () => step(1), p: () => step(-1), j: () => step(1), k: () => step(-1),
  h: () => document.querySelector("a.hottest")?.click(),
  a: () => follow("a.asm"), e: toggleAll, u: () => document.querySelector("a.up")?.click(),
  t: otherTheme, "?": showHelp,
  "/": () => search?.focus(),
};

addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey)
    return;
  if (event.target === search) {
    if (event.key === "Escape")
      search.blur();
    return;
  }
  const key = keys[event.key];
  if (!key || document.querySelector("dialog[open]"))
    return;
  event.preventDefault();
  key();
});
addEventListener("hashchange", followHash);
if (search) {
  search.hidden = false;
  search.addEventListener("input", filter);
}
document.querySelector("button.theme")?.addEventListener("click", otherTheme);
document.querySelector("button.help")?.addEventListener("click", showHelp);
for (const e of document.querySelectorAll(".keys"))
  e.hidden = false;
followHash();
// When the browser itself scrolls to the element, it removes the focus, so focus it again.
addEventListener("load", () => setTimeout(followHash));
