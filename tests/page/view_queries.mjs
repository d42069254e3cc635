/* SPDX-License-Identifier: GPL-2.0-or-later */
// Tests the queries of an exported page, which compute from the data document the same answers as
// the server. Stacks: main;work;hot (50), main;work (10), main (20), main;hot;hot (20).
import assert from "node:assert/strict";
import { test } from "node:test";

const { FileSource } = await import(process.env.QUERIES);
const ALL = { filters: {} };

function document(compare = false) {
  return {
    version: 1, info: {
      title: "t", duration_ns: 100, samples: 100, compare,
      events: [{ name: "cycles", samples: 100 }, { name: "misses", samples: 7 }],
    },
    images: ["/bin/a", "/lib/b"], symbols: [["main", 0, 0], ["work", 0, 0], ["hot<…>", 1, 0, "hot<int>"]],
    symbol: [0, 1, 2, 2, 2], up: [0, 1, 1, 3, 1], threads: [[1, 1, "one", "/x"], [1, 2, "two", "/y"]], bin_ns: 10,
    cells: {
      bin: [0, 2, 3, 0, 0], thread: [0, 0, 1, 1, 0], cpu: [0, 1, 0, 1, 0], event: [0, 0, 0, 0, 1],
      node: [2, 1, 0, 4, 2], count: [50, 10, 20, 20, 7], ...(compare ? { side: [0, 1, 1, 0, 0] } : {}),
    },
    functions: {}, lost: [[2, 3]],
  };
}

const source = new FileSource(document());
const rowsOf = async (sel, by) => Object.fromEntries((await source.table(sel,
  { by, sort: "self", top: 10, from_row: 0 })).rows.map((row) => [row.values.join(), [row.self, row.total]]));

test("the call tree has the samples of all stacks", async () => {
  const tree = await source.tree(ALL, "calls", 0, 100);
  assert.equal(tree.total, 100);
  assert.deepEqual(tree.total_of, [100, 60, 50, 20, 20]);
  assert.deepEqual(tree.self, [20, 10, 50, 0, 20]);
  assert.deepEqual(tree.up, [0, 1, 1, 3, 1]);
});

test("small nodes are left out and counted", async () => {
  const tree = await source.tree(ALL, "calls", 0.3, 100);
  assert.deepEqual(tree.total_of, [100, 60, 50]);
  assert.equal(tree.omitted, 20);
  assert.equal((await source.tree(ALL, "calls", 0, 2)).symbol.length, 2);
});

test("the tree of callers begins at the functions of samples", async () => {
  const tree = await source.tree(ALL, "callers", 0, 100);
  const roots = tree.up.flatMap((up, i) => up ? [] : [[tree.symbols[tree.symbol[i]][0], tree.total_of[i]]]);
  assert.deepEqual(roots, [["hot<…>", 70], ["main", 20], ["work", 10]]);
});

test("the tree by time has the same samples", async () => {
  const tree = await source.tree(ALL, "time", 0, 100);
  assert.equal(tree.self.reduce((a, b) => a + b, 0), 100);
  assert.equal(tree.up.filter((up) => !up).length, 2); // a run of main in each thread
});

test("each filter selects samples", async () => {
  const total = async (sel) => (await source.tree({ filters: {}, ...sel }, "calls", 0, 100)).total;
  assert.equal(await total({ filters: { comm: ["one"] } }), 60);
  assert.equal(await total({ filters: { comm: ["one", "two"] } }), 100);
  assert.equal(await total({ filters: { tid: ["2"] } }), 40);
  assert.equal(await total({ filters: { cpu: ["1"] } }), 30);
  assert.equal(await total({ filters: { cgroup: ["/y"] } }), 40);
  assert.equal(await total({ filters: { image: ["/lib/b"] } }), 70);
  assert.equal(await total({ filters: { symbol: ["hot<int>"] } }), 70);
  assert.equal(await total({ filters: { through: ["work"] } }), 60);
  assert.equal(await total({ text: "WORK" }), 60);
  assert.equal(await total({ text: "lib/b" }), 70);
  assert.equal(await total({ event: "misses" }), 7);
  assert.equal(await total({ from: 20, to: 50 }), 10);
  assert.equal(await total({ from: 20 }), 50);
});

test("a table counts a recursive function once", async () => {
  assert.deepEqual(await rowsOf(ALL, "symbol"), { "hot<…>": [70, 70], main: [20, 100], work: [10, 60] });
  assert.deepEqual(await rowsOf(ALL, "image"), { "/lib/b": [70, 70], "/bin/a": [30, 100] });
  assert.deepEqual(await rowsOf(ALL, "comm"), { one: [60, 60], two: [40, 40] });
  assert.deepEqual((await rowsOf(ALL, "comm,symbol"))["two,hot<…>"], [20, 20]);
});

test("the sandwich of a function merges its callers and callees", async () => {
  const { self, total, callers, callees } = await source.functionOf(ALL, "hot<int>", "");
  assert.deepEqual([self, total], [70, 70]);
  const children = (tree) => tree.up.flatMap((up, i) => i && i - up === 0
    ? [[tree.symbols[tree.symbol[i]][0], tree.total_of[i]]] : []);
  assert.deepEqual(children(callers), [["work", 50], ["main", 20]]);
  assert.deepEqual(children(callees), [["hot<…>", 20]]);
  await assert.rejects(source.functionOf(ALL, "none", ""), /no function 'none'/);
});

test("the timeline and the heat map contain all samples and losses", async () => {
  const line = await source.timeline(ALL, 10, "thread", 10);
  assert.deepEqual(line.total, [50, 0, 10, 0, 0, 40, 0, 0, 0, 0]);
  assert.deepEqual(line.lost, [0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
  assert.deepEqual(line.tracks.map(({ tid, samples }) => [tid, samples]), [[1, 60], [2, 40]]);
  const half = await source.timeline({ ...ALL, from: 0, to: 50 }, 5, "none", 10);
  assert.deepEqual(half.total, [50, 0, 10, 0, 0]);
  const heat = await source.heat(ALL, 5, 2);
  assert.equal(heat.cells.reduce((sum, [, , n]) => sum + n, 0), 100);
});

test("a comparison divides the samples", async () => {
  const both = new FileSource(document(true)), tree = await both.tree(ALL, "calls", 0, 100);
  assert.deepEqual([tree.base_total, tree.new_total], [70, 30]);
  assert.deepEqual(tree.new_of, [30, 10, 0, 0, 0]);
  assert.equal((await both.tree({ ...ALL, side: "new" }, "calls", 0, 100)).total, 30);
});

test("texts for copying", async () => {
  assert.equal(await source.text(ALL, "folded", ""),
    "main 20\nmain;work 10\nmain;work;hot<…> 50\nmain;hot<…>;hot<…> 20\n");
  assert.match(await source.text(ALL, "csv", "symbol"), /^self,total,symbol\r\n70,70,hot<…>\r\n/);
});

test("values of a filter, most samples first", async () => {
  assert.deepEqual((await source.values(ALL, "comm", 9, "")).rows, [["one", 60], ["two", 40]]);
  assert.deepEqual((await source.values(ALL, "symbol", 9, "HO")).rows, [["hot<int>", 70]]);
});
