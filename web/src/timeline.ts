/* SPDX-License-Identifier: GPL-2.0-or-later */
// The samples over time, with tracks of threads or CPUs. A brush selects a range of time.
import { drawBars, drawHeat, HeatScale } from "./chart";
import { announce, append, button, choice, eachFrame, el, fill, hideTip, showTip } from "./dom";
import { amount, brief, duration, moment } from "./format";
import { selectionKey, State, toggleFilter } from "./state";
import { Filter, Heat, Selection, Timeline, Track } from "./types";
import { Context, errorBox, Loader, View } from "./view";

const TRACKS = 40, BIN_PX = 2, HEAT_PX = 7, HEAT_ROWS = 24, STEPS = 50;

interface TrackRow {
  track: Track;
  canvas: HTMLCanvasElement;
}

export class TimelineView implements View {
  readonly root = el("section", { class: "timeline", "aria-label": "Timeline" });
  private readonly error = errorBox();
  private readonly loader = new Loader(this.root, this.error);
  private readonly heatLoader = new Loader(this.root, this.error);
  private readonly canvas: HTMLCanvasElement;
  private readonly plot: HTMLElement;
  private readonly brush = el("div", { class: "brush", hidden: true });
  private readonly labels = el("div", { class: "axis", "aria-hidden": "true" });
  private readonly rows = el("div", { class: "tracks" });
  private readonly chosen = el("span", { class: "chosen" });
  private readonly scaleText = el("span", { class: "scale" });
  private readonly fromInput: HTMLInputElement;
  private readonly toInput: HTMLInputElement;
  private readonly clear: HTMLButtonElement;
  private readonly enlarge: HTMLButtonElement;
  private readonly whole: HTMLButtonElement;
  private readonly heatButton: HTMLButtonElement;
  private readonly tracks;
  private readonly draw = eachFrame(() => this.paint());
  private answer: Timeline | null = null;
  private heat: Heat | null = null;
  private trackRows: TrackRow[] = [];
  private drag: { begin: number; moved: boolean } | null = null;
  private range: [number, number] | null = null; // of the brush, ns
  private bins = 0;

  constructor(private readonly context: Context) {
    const { store, info } = context;
    this.canvas = el("canvas", {
      tabindex: 0, role: "application", "aria-roledescription": "timeline", "aria-label":
        "Samples over time. Arrow keys move the selected range, with Shift they change its length, " +
        "Escape clears it.",
      onkeydown: (e: KeyboardEvent) => this.key(e),
    });
    this.plot = el("div", {
      class: "plot", onpointerdown: (e: PointerEvent) => this.pressed(e),
      onpointermove: (e: PointerEvent) => this.moved(e), onpointerup: (e: PointerEvent) => this.released(e),
      onpointercancel: () => { this.drag = null; }, onpointerleave: hideTip,
      ondblclick: () => this.show(null),
    }, this.canvas, this.rows, this.brush);
    const seconds = (id: string, label: string) => el("input", {
      id, type: "number", step: "any", min: 0, "aria-label": label, onchange: () => this.typed(),
    });
    this.fromInput = seconds("from", "Start of the range in seconds");
    this.toInput = seconds("to", "End of the range in seconds");
    this.tracks = choice("Tracks", [...(info.threads === 0 ? [] : [["thread", "threads"] as const]),
      ["comm", "commands"], ...(info.has_cpus === false ? [] : [["cpu", "CPUs"] as const]),
      ["none", "none"]], (tracks) => store.set({ tracks }), { id: "tracks" });
    this.heatButton = button("Heat map", () => store.set({ heat: !store.state.heat }),
      { id: "heat", "aria-pressed": "false", title: "Show samples by time in columns" });
    this.clear = button("Clear range", () => this.show(null), { id: "clear-range", title: "Escape" });
    this.enlarge = button("Enlarge", () => this.enlargeRange(), { title: "Show only the selected range" });
    this.whole = button("Whole recording", () => store.set({ view: "" }));
    append(this.root, el("div", { class: "toolbar", role: "toolbar", "aria-label": "Timeline" },
      this.tracks.root, this.heatButton, el("span", { class: "range" }, this.fromInput, "–", this.toInput, "s"),
      this.chosen, this.clear, this.enlarge, this.whole, this.scaleText), this.error,
    el("div", { class: "time-body" }, this.plot), this.labels);
    new ResizeObserver(() => this.resized()).observe(this.plot);
  }

  private get width(): number {
    return Math.max(10, this.plot.clientWidth - this.labelWidth);
  }

  // The labels of tracks are to the left of the graphs.
  private get labelWidth(): number {
    return innerWidth < 600 ? 84 : 170;
  }

  private resized(): void {
    this.root.style.setProperty("--label-width", `${this.labelWidth}px`);
    const bins = Math.floor(this.width / BIN_PX);
    if (Math.abs(bins - this.bins) > this.bins / 5)
      this.update(this.context.store.state);
    this.draw();
  }

  private visibleRange(state: State): [number, number] | null {
    const m = /^(\d+)-(\d+)$/.exec(state.view);
    return m && Number(m[2]) > Number(m[1]) ? [Number(m[1]), Number(m[2])] : null;
  }

  update(state: State): void {
    const { context } = this, visible = this.visibleRange(state);
    this.root.hidden = context.info.has_times === false || !context.info.samples;
    if (this.root.hidden)
      return;
    this.tracks.set(state.tracks);
    this.heatButton.setAttribute("aria-pressed", String(state.heat));
    this.root.classList.toggle("with-heat", state.heat);
    // The timeline shows all times: the selected range is a mark on it.
    const sel: Selection = { ...state.sel, from: visible?.[0], to: visible?.[1] };
    this.bins = Math.floor(this.width / BIN_PX) || 400;
    const key = `${state.tracks} ${this.bins}?${selectionKey(sel)}#${context.generation}`;
    this.loader.load(key, (signal) =>
      context.source.timeline(sel, this.bins, state.tracks, TRACKS, signal), (answer) => {
      this.answer = answer;
      this.makeTracks();
      this.draw();
    });
    if (state.heat) {
      const columns = Math.max(8, Math.floor(this.width / HEAT_PX));
      this.heatLoader.load(`${columns}?${selectionKey(sel)}#${context.generation}`, (signal) =>
        context.source.heat(sel, columns, HEAT_ROWS, signal), (answer) => {
        this.heat = answer;
        this.draw();
      });
    }
    const { from, to } = state.sel;
    this.range = from === undefined && to === undefined ? null
      : [from ?? 0, to ?? context.info.duration_ns];
    this.draw();
  }

  repaint(): void {
    this.draw();
  }

  private makeTracks(): void {
    const { store } = this.context;
    this.trackRows = (this.answer?.tracks ?? []).map((track) => ({ track, canvas: el("canvas") }));
    fill(this.rows, ...this.trackRows.map(({ track, canvas }) => {
      const [name, value] = this.filterOf(track), on = store.state.sel.filters[name]?.includes(value) ?? false;
      return el("div", { class: "track" }, button(track.name, () =>
        store.select(toggleFilter(store.state.sel, name, value)), {
        title: `${track.name}: ${amount(track.samples, this.context.unit())}. Show only ${name} ${value}`,
        "aria-pressed": String(on),
      }), canvas);
    }));
  }

  private filterOf(track: Track): [Filter, string] {
    if (track.cpu !== undefined && track.tid === undefined)
      return ["cpu", String(track.cpu)];
    return track.tid !== undefined ? ["tid", String(track.tid)] : ["comm", track.comm ?? track.name];
  }

  private get bounds(): [number, number] {
    const { answer } = this;
    return answer ? [answer.from_ns, Math.max(answer.to_ns, answer.from_ns + 1)] : [0, this.context.info.duration_ns || 1];
  }

  private paint(): void {
    const { answer } = this;
    if (!answer || this.root.hidden)
      return;
    const { width } = this, heat = this.context.store.state.heat && this.heat;
    let scale: HeatScale | null = null;
    const height = heat ? 132 : 54;
    this.canvas.style.marginLeft = `${this.labelWidth}px`;
    if (heat)
      scale = drawHeat(this.canvas, width, height, heat);
    else
      drawBars(this.canvas, width, height, answer.total, answer.lost);
    // Tracks of CPUs share one scale, so that busy ones can be seen.
    const most = Math.max(1, ...this.trackRows.map(({ track }) => Math.max(...track.bins)));
    for (const { track, canvas } of this.trackRows)
      drawBars(canvas, width, 17, track.bins, undefined, most);
    this.paintBrush();
    this.paintAxis();
    const peak = Math.max(0, ...answer.total), lost = (answer.lost ?? []).reduce((a, b) => a + b, 0);
    this.scaleText.textContent = scale ? `${duration(heat ? heat.column_ns : 0)} per column; darkest: ` +
      `${brief(scale.most)}` : `peak ${brief(peak)} per ${duration(answer.bin_ns)}${lost ? `; ${brief(lost)} lost` : ""}`;
    this.root.dataset.ready = "1";
  }

  private paintAxis(): void {
    const [from, to] = this.bounds, ticks = Math.max(2, Math.floor(this.width / 90));
    const rough = (to - from) / ticks, power = 10 ** Math.floor(Math.log10(rough));
    const step = ([1, 2, 5, 10].find((k) => k * power >= rough) ?? 10) * power;
    const marks: HTMLElement[] = [];
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const share = (t - from) / (to - from), mark = el("span", {}, moment(t, step));
      mark.style.left = `${this.labelWidth + share * this.width}px`;
      mark.className = share > 0.95 ? "right" : share < 0.02 ? "left" : "";
      marks.push(mark);
    }
    fill(this.labels, ...marks);
  }

  private paintBrush(): void {
    const { range, brush } = this, [from, to] = this.bounds, step = (to - from) / Math.max(1, this.width);
    brush.hidden = !range;
    this.clear.disabled = this.enlarge.disabled = !range;
    this.whole.hidden = !this.visibleRange(this.context.store.state);
    this.chosen.textContent = range ? duration(range[1] - range[0]) : "";
    for (const [input, at] of [[this.fromInput, range?.[0]], [this.toInput, range?.[1]]] as const)
      if (document.activeElement !== input)
        input.value = at === undefined ? "" : moment(at, Math.min(step, 1e6)).replace(" s", "");
    this.fromInput.placeholder = moment(from, 1e7).replace(" s", "");
    this.toInput.placeholder = moment(to, 1e7).replace(" s", "");
    if (!range)
      return;
    const left = Math.max(0, (range[0] - from) / (to - from)), right = Math.min(1, (range[1] - from) / (to - from));
    brush.style.left = `${this.labelWidth + left * this.width}px`;
    brush.style.width = `${Math.max(1, (right - left) * this.width)}px`;
  }

  private timeAt(x: number): number {
    const box = this.plot.getBoundingClientRect(), [from, to] = this.bounds;
    const share = (x - box.left - this.labelWidth) / this.width;
    return from + Math.min(1, Math.max(0, share)) * (to - from);
  }

  private pressed(event: PointerEvent): void {
    const box = this.plot.getBoundingClientRect();
    if (event.button || event.clientX < box.left + this.labelWidth)
      return;
    this.plot.setPointerCapture(event.pointerId);
    this.drag = { begin: this.timeAt(event.clientX), moved: false };
  }

  private moved(event: PointerEvent): void {
    if (!this.drag) {
      this.tip(event);
      return;
    }
    const at = this.timeAt(event.clientX), { begin } = this.drag;
    if (!this.drag.moved)
      hideTip();
    this.drag.moved = true;
    this.range = at < begin ? [at, begin] : [begin, at];
    this.paintBrush();
  }

  private released(event: PointerEvent): void {
    const { drag } = this;
    this.drag = null;
    if (!drag?.moved)
      return;
    const [from, to] = this.bounds, least = (to - from) / this.width * 3;
    const at = this.timeAt(event.clientX);
    this.show(Math.abs(at - drag.begin) < least ? null : at < drag.begin ? [at, drag.begin] : [drag.begin, at]);
  }

  private tip(event: PointerEvent): void {
    const { answer } = this, box = this.plot.getBoundingClientRect();
    if (!answer || event.clientX < box.left + this.labelWidth || !answer.total.length) {
      hideTip();
      return;
    }
    const t = this.timeAt(event.clientX), [from] = this.bounds;
    const bin = Math.min(answer.total.length - 1, Math.floor((t - from) / answer.bin_ns));
    const track = this.trackRows.find(({ canvas }) => {
      const row = canvas.getBoundingClientRect();
      return event.clientY >= row.top && event.clientY < row.bottom;
    })?.track;
    const n = track ? track.bins[bin] : answer.total[bin], lost = answer.lost?.[bin];
    showTip(event.clientX, event.clientY, el("b", {}, moment(t, answer.bin_ns)),
      track && el("div", {}, track.name),
      el("div", {}, `${amount(n ?? 0, this.context.unit())} in ${duration(answer.bin_ns)}`),
      !track && lost ? el("div", {}, `${brief(lost)} lost`) : null);
  }

  // Selects a range of time, or all times.
  show(range: [number, number] | null, replace = false): void {
    const { store } = this.context, { sel } = store.state;
    this.range = range;
    store.select({ ...sel, from: range ? Math.round(range[0]) : undefined, to: range ? Math.round(range[1]) : undefined },
      replace);
    this.draw();
    announce(range ? `Range ${moment(range[0], 1e6)} to ${moment(range[1], 1e6)}` : "All times");
  }

  private typed(): void {
    const from = parseFloat(this.fromInput.value), to = parseFloat(this.toInput.value);
    const all = this.context.info.duration_ns;
    if (Number.isNaN(from) && Number.isNaN(to))
      this.show(null);
    else
      this.show([Number.isNaN(from) ? 0 : from * 1e9, Number.isNaN(to) ? all : to * 1e9]);
  }

  private enlargeRange(): void {
    if (this.range)
      this.context.store.set({ view: `${Math.round(this.range[0])}-${Math.round(this.range[1])}` });
  }

  private key(event: KeyboardEvent): void {
    const [from, to] = this.bounds, step = (to - from) / STEPS, by = event.key === "ArrowLeft" ? -step : step;
    if (event.key === "Escape" && this.range) {
      this.show(null);
    } else if (event.key === "Enter" && this.range) {
      this.enlargeRange();
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const [a, b] = this.range ?? [from, from + step];
      const clamp = (t: number) => Math.min(to, Math.max(from, t));
      if (event.shiftKey)
        this.show([a, Math.max(a + step / 2, clamp(b + by))], true);
      else if (!this.range)
        this.show([a, b]);
      else if (a + by >= from - step / 2 && b + by <= to + step / 2)
        this.show([clamp(a + by), clamp(b + by)], true);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }
}
