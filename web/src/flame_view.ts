/* SPDX-License-Identifier: GPL-2.0-or-later */
// A flame graph on a canvas: zoom, pan, tooltip and keyboard. Used by the flame graph and by the
// callers and callees of a function.
import { Colouring } from "./colours";
import { announce, eachFrame, el, hideTip, sheet, showTip } from "./dom";
import { FlameModel } from "./flame_model";
import { amount, baseName, percent, points } from "./format";
import { KINDS } from "./types";

const ROW = 19, LEAST = 0.5, ZOOM_MS = 160;

export interface FlameEvents {
  selected(node: number): void;
  zoomed?(node: number): void;
  opened?(node: number, where: "function" | "source"): void;
}

interface Range {
  begin: number;
  end: number;
}

export class FlameView {
  readonly root: HTMLElement;
  readonly canvas: HTMLCanvasElement;
  model: FlameModel | null = null;
  colouring: Colouring | null = null;
  at = 0; // the selected node
  zoomNode = 0;
  up = false; // whether callees are above their callers
  full = false;
  unit: string | undefined;
  onlyAsTall = false; // makes the element as tall as its content
  // The samples at the left and right edge.
  private range: Range = { begin: 0, end: 1 };
  private goal: Range | null = null;
  private started = 0;
  private from: Range = { begin: 0, end: 1 };
  private readonly scroll: HTMLElement;
  private readonly tall: HTMLElement;
  private readonly repaint = eachFrame(() => this.paint());
  private drag: { x: number; y: number; begin: number; top: number; moved: boolean } | null = null;
  private widths = new Map<string, number>();
  lastPaintMs = 0;

  constructor(label: string, private readonly events: FlameEvents) {
    this.canvas = el("canvas", {
      tabindex: 0, role: "application", "aria-roledescription": "flame graph", "aria-label":
        `${label}. Arrow keys move between frames, Enter zooms, Escape zooms out, ` +
        "f shows the function, s its source.",
      onkeydown: (e: KeyboardEvent) => this.key(e), onfocus: () => this.repaint(),
      onblur: () => this.repaint(), onpointerdown: (e: PointerEvent) => this.pressed(e),
      onpointermove: (e: PointerEvent) => this.moved(e), onpointerup: (e: PointerEvent) => this.released(e),
      onpointerleave: hideTip, onpointercancel: () => { this.drag = null; },
      ondblclick: (e: MouseEvent) => this.zoom(this.hit(e)),
    });
    this.canvas.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    this.tall = el("div", { class: "tall" });
    this.scroll = el("div", { class: "flame-scroll", onscroll: () => this.repaint() }, this.canvas, this.tall);
    this.root = el("div", { class: "flame" }, this.scroll);
    new ResizeObserver(() => this.repaint()).observe(this.scroll);
  }

  show(model: FlameModel, colouring: Colouring, zoom: number, at: number): void {
    this.model = model;
    this.colouring = colouring;
    this.zoomNode = zoom;
    this.at = at;
    this.goal = null;
    this.range = this.rangeOf(zoom);
    const height = (model.deepest + 1) * ROW;
    this.tall.style.height = `${height}px`;
    if (this.onlyAsTall)
      this.root.style.height = `${Math.min(height, 22 * ROW)}px`;
    this.scroll.scrollTop = this.up ? height : Math.min(this.scroll.scrollTop, height);
    this.repaint();
  }

  // Draws again, for example after a change of colours.
  refresh(): void {
    this.repaint();
  }

  private rangeOf(node: number): Range {
    const { model } = this;
    return model ? { begin: model.x[node], end: model.x[node] + (model.total[node] || 1) }
      : { begin: 0, end: 1 };
  }

  get width(): number {
    return this.scroll.clientWidth;
  }

  private scale(): number {
    return this.width / (this.range.end - this.range.begin);
  }

  yOf(depth: number): number {
    const { model, scroll } = this, rows = (model?.deepest ?? 0) + 1;
    const y = this.up ? (rows - 1 - depth) * ROW + Math.max(0, scroll.clientHeight - rows * ROW)
      : depth * ROW;
    return y - scroll.scrollTop;
  }

  // The left edge and the width of a node on the canvas.
  span(i: number): [number, number] {
    const { model } = this;
    if (!model)
      return [0, 0];
    const left = (model.x[i] - this.range.begin) * this.scale();
    const begin = Math.max(0, left), end = Math.min(this.width, left + model.total[i] * this.scale());
    return [begin, end - begin];
  }

  // Calls `act` for each node that is wide enough to be drawn. Nodes outside of the range and
  // nodes that are too narrow are skipped with their callees.
  private eachVisible(act: (i: number) => void): void {
    const { model } = this;
    if (!model)
      return;
    const least = LEAST / this.scale(), { begin, end } = this.range;
    for (let i = 0; i < model.n;) {
      if (model.total[i] < least || model.x[i] >= end || model.x[i] + model.total[i] <= begin) {
        i = model.end[i];
        continue;
      }
      act(i++);
    }
  }

  private animate(): void {
    if (!this.goal)
      return;
    const t = Math.min(1, (performance.now() - this.started) / ZOOM_MS), k = 1 - (1 - t) ** 3;
    this.range = {
      begin: this.from.begin + (this.goal.begin - this.from.begin) * k,
      end: this.from.end + (this.goal.end - this.from.end) * k,
    };
    if (t >= 1) {
      this.range = this.goal;
      this.goal = null;
    } else {
      this.repaint();
    }
  }

  private paint(): void {
    const { model, colouring } = this;
    if (!model || !colouring || !this.scroll.isConnected)
      return;
    const begin = performance.now(), width = this.width, height = this.scroll.clientHeight;
    this.animate();
    const ink = sheet(this.canvas, width, height);
    ink.font = "12px system-ui, sans-serif";
    ink.textBaseline = "middle";
    const dim = this.zoomNode ? model.depth[this.zoomNode] : 0;
    this.eachVisible((i) => {
      const y = this.yOf(model.depth[i]);
      if (y < -ROW || y > height)
        return;
      const [x, w] = this.span(i);
      ink.globalAlpha = model.depth[i] < dim ? 0.6 : 1;
      ink.fillStyle = colouring.of(i);
      ink.fillRect(x, y, Math.max(w - (w > 3 ? 1 : 0), LEAST), ROW - 1);
      if (w > 24) {
        ink.fillStyle = model.found[i] ? "#000" : colouring.text;
        this.label(ink, model.name(i, this.full), x + 4, y + ROW / 2, w - 8);
      }
    });
    ink.globalAlpha = 1;
    this.outline(ink);
    this.lastPaintMs = performance.now() - begin;
  }

  private outline(ink: CanvasRenderingContext2D): void {
    const { model, colouring } = this;
    if (!model || !colouring || this.at >= model.n)
      return;
    const [x, w] = this.span(this.at);
    if (w <= 0 || (!this.at && document.activeElement !== this.canvas))
      return;
    ink.strokeStyle = colouring.text;
    ink.lineWidth = 2;
    ink.strokeRect(x + 1, this.yOf(model.depth[this.at]) + 1, Math.max(w - 3, 1), ROW - 3);
  }

  // Writes as much of a name as there is room for.
  private label(ink: CanvasRenderingContext2D, name: string, x: number, y: number, room: number): void {
    let text = name;
    if (text.length * 12 > room) { // could be too long: measure
      let width = this.widths.get(name);
      if (width === undefined) {
        width = ink.measureText(name).width;
        if (this.widths.size > 20000)
          this.widths.clear();
        this.widths.set(name, width);
      }
      if (width > room) {
        const keep = Math.floor(name.length * (room - 10) / width);
        text = keep > 1 ? `${name.slice(0, keep)}…` : "";
      }
    }
    if (text)
      ink.fillText(text, x, y, room);
  }

  hit(event: { clientX: number; clientY: number }): number {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let found = -1;
    this.eachVisible((i) => {
      const top = this.yOf(this.model?.depth[i] ?? 0);
      if (y < top || y >= top + ROW)
        return;
      const [left, width] = this.span(i);
      if (x >= left && x < left + Math.max(width, LEAST))
        found = i;
    });
    return found;
  }

  private pressed(event: PointerEvent): void {
    if (event.button)
      return;
    this.drag = {
      x: event.clientX, y: event.clientY, begin: this.range.begin, top: this.scroll.scrollTop, moved: false,
    };
  }

  private moved(event: PointerEvent): void {
    if (this.drag && event.buttons & 1) {
      const dx = event.clientX - this.drag.x, dy = event.clientY - this.drag.y;
      if (!this.drag.moved && Math.abs(dx) + Math.abs(dy) < 5)
        return;
      if (!this.drag.moved)
        this.canvas.setPointerCapture(event.pointerId);
      this.drag.moved = true;
      hideTip();
      this.move(this.drag.begin - dx / this.scale(), this.range.end - this.range.begin);
      this.scroll.scrollTop = this.drag.top - dy;
      return;
    }
    const node = this.hit(event);
    this.canvas.style.cursor = node < 0 ? "default" : "pointer";
    if (node < 0)
      hideTip();
    else
      this.tip(node, event);
  }

  private released(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    if (!drag || drag.moved)
      return;
    const node = this.hit(event);
    if (node >= 0)
      this.select(node);
  }

  // Shows a range of samples, without leaving the graph.
  private move(begin: number, size: number): void {
    const all = this.model?.total[0] || 1, wide = Math.min(size, all);
    const left = Math.min(Math.max(0, begin), all - wide);
    this.goal = null;
    this.range = { begin: left, end: left + wide };
    this.repaint();
  }

  private wheel(event: WheelEvent): void {
    if (!event.ctrlKey && !event.metaKey) {
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        this.move(this.range.begin + event.deltaX / this.scale(), this.range.end - this.range.begin);
      }
      return;
    }
    event.preventDefault();
    const box = this.canvas.getBoundingClientRect();
    this.magnify(Math.exp(event.deltaY * 0.004), (event.clientX - box.left) / this.width);
  }

  // Multiplies the range by a factor; the point at `where` (0 to 1) stays.
  private magnify(factor: number, where: number): void {
    const old = this.range.end - this.range.begin, size = Math.max(old * factor, 1e-6);
    this.move(this.range.begin + (old - size) * where, size);
  }

  describe(i: number): string {
    const { model } = this;
    if (!model)
      return "";
    const all = model.total[0];
    let text = `${model.label(i, this.full)}: ${amount(model.total[i], this.unit)}, ` +
      `${percent(model.total[i], all)}; self ${percent(model.self[i], all)}`;
    if (model.base)
      text += `; change ${points(model.change(i))} points`;
    return text;
  }

  private tip(i: number, event: PointerEvent): void {
    const { model } = this;
    if (!model)
      return;
    const all = model.total[0], image = model.image(i), kind = KINDS[model.kind(i)];
    showTip(event.clientX, event.clientY, el("b", {}, model.name(i, true)),
      image && el("div", { class: "dim" }, `${baseName(image)}${kind ? ` · ${kind}` : ""}`),
      el("div", {}, `${amount(model.total[i], this.unit)} · ${percent(model.total[i], all)}`),
      el("div", {}, `self ${amount(model.self[i], this.unit)} · ${percent(model.self[i], all)}`),
      model.base && model.neu && el("div", {}, `base ${percent(model.base[i], model.baseTotal)} · ` +
        `new ${percent(model.neu[i], model.newTotal)} · ${points(model.change(i))} points`));
  }

  select(i: number, quiet = false): void {
    this.at = i;
    this.reveal();
    this.repaint();
    announce(this.describe(i));
    if (!quiet)
      this.events.selected(i);
  }

  private reveal(): void {
    const y = this.yOf(this.model?.depth[this.at] ?? 0), { scroll } = this;
    if (y < 0 || y > scroll.clientHeight - ROW)
      scroll.scrollTop += y - scroll.clientHeight / 2;
  }

  zoom(i: number): void {
    if (i < 0 || !this.model)
      return;
    hideTip();
    this.zoomNode = i;
    this.from = this.range;
    this.started = performance.now();
    this.goal = this.rangeOf(i);
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.range = this.goal;
      this.goal = null;
    }
    this.repaint();
    this.events.zoomed?.(i);
  }

  private key(event: KeyboardEvent): void {
    const { model } = this;
    if (!model || event.ctrlKey || event.metaKey || event.altKey)
      return;
    const inwards = () => this.select(model.heaviestCallee(this.at));
    const outwards = () => this.select(model.parent[this.at]);
    const keys: Record<string, () => void> = {
      ArrowDown: this.up ? outwards : inwards, ArrowUp: this.up ? inwards : outwards,
      ArrowLeft: () => this.select(model.sibling(this.at, -1)),
      ArrowRight: () => this.select(model.sibling(this.at, 1)),
      Home: () => this.select(0), Enter: () => this.zoom(this.at), "+": () => this.magnify(0.7, 0.5),
      "-": () => this.magnify(1 / 0.7, 0.5), Backspace: () => this.zoom(model.parent[this.zoomNode]),
      Escape: () => this.zoom(0), f: () => this.events.opened?.(this.at, "function"),
      s: () => this.events.opened?.(this.at, "source"),
    };
    const act = keys[event.key];
    if (!act || (event.key === "Escape" && !this.zoomNode))
      return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}
