/* SPDX-License-Identifier: GPL-2.0-or-later */
// The form that starts and stops recordings.
import { append, button, choice, el, fill, later } from "./dom";
import { EventPicker } from "./event_picker";
import { brief, duration, grouped } from "./format";
import { State } from "./state";
import { LiveEvent, ProcessRow, RecordAction, Recorder, RecordSettings, RecordStatus } from "./types";
import { Context, errorBox, showError, View } from "./view";

type Target = RecordSettings["target"];
const TARGETS: readonly (readonly [Target, string])[] = [["program", "A program"], ["process", "A running process"],
  ["system", "The whole system"], ["daemon", "The daemon (oprofiled)"]];
const SEPARATE = ["lib", "kernel", "thread", "cpu"];

// Divides a command line into arguments as a shell does: quotes and backslashes, no variables.
export function splitArguments(line: string): string[] {
  const out: string[] = [];
  let word = "", open = false, quote = "";
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quote) {
      if (c === quote)
        quote = "";
      else if (c === "\\" && quote === '"' && /["\\$`]/.test(line[i + 1] ?? ""))
        word += line[++i];
      else
        word += c;
    } else if (c === "'" || c === '"') {
      quote = c;
      open = true;
    } else if (c === "\\" && i + 1 < line.length) {
      word += line[++i];
      open = true;
    } else if (/\s/.test(c)) {
      if (open || word)
        out.push(word);
      word = "";
      open = false;
    } else {
      word += c;
    }
  }
  if (open || word)
    out.push(word);
  return out;
}

function joinArguments(argv: readonly string[]): string {
  return argv.map((word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`).join(" ");
}

export class RecordTab implements View {
  readonly root = el("section", { class: "record-tab", "aria-label": "Record" });
  private readonly error = errorBox();
  private readonly form = el("form", { class: "record-form", onsubmit: (e: Event) => this.submitted(e) });
  private readonly targets = new Map<Target, HTMLInputElement>();
  private readonly program: HTMLInputElement;
  private readonly directory: HTMLInputElement;
  private readonly vmlinux: HTMLInputElement;
  private readonly name: HTMLInputElement;
  private readonly processes = el("ul", { class: "values processes" });
  private readonly processSearch: HTMLInputElement;
  private readonly callgraph;
  private readonly separate = new Map<string, HTMLInputElement>();
  private readonly picker: EventPicker;
  private readonly startButton = el("button", { type: "submit", id: "start", class: "primary" }, "Start");
  private readonly actions = new Map<RecordAction, HTMLButtonElement>();
  private readonly numbers = el("dl", { class: "numbers" });
  private readonly watch: HTMLButtonElement;
  private target: Target = "program";
  private pid: number | undefined;
  private running: ProcessRow[] = [];
  private opened = false;
  private recording = false;
  private live: LiveEvent | null = null;
  private status: RecordStatus = {};

  constructor(private readonly context: Context, private readonly recorder: Recorder) {
    const { store } = context, field = (id: string, placeholder: string) =>
      el("input", { id, placeholder, autocomplete: "off", spellcheck: "false" });
    this.program = field("program", "./program arguments");
    this.directory = field("directory", "the directory of oprofile view");
    this.vmlinux = field("vmlinux", "/usr/lib/debug/boot/vmlinux-…");
    this.name = field("save-name", "name");
    this.processSearch = el("input", {
      type: "search", id: "process-search", placeholder: "Name or pid", "aria-label": "Search processes",
      oninput: later(() => this.showProcesses(), 100),
    });
    this.callgraph = choice("Call graphs", [["fp", "by frame pointers"], ["dwarf", "by DWARF (copies stacks)"], ["none", "none"]],
      () => {}, { id: "callgraph" });
    this.picker = new EventPicker();
    this.watch = button("Show the flame graph", () => store.set({ tab: "flame" }), { id: "watch" });
    append(this.root, el("div", { class: "record-scroll", tabindex: 0, role: "group", "aria-label": "Recording" }, this.error, this.form));
    append(this.form, this.controls(), this.targetFields(), el("fieldset", {}, el("legend", {}, "Events"), this.picker.root),
      this.optionFields());
    this.chooseTarget("program");
  }

  private controls(): HTMLElement {
    const act = (action: RecordAction, title: string, about: string) => {
      const made = button(title, () => void this.act(action), { id: action, title: about });
      this.actions.set(action, made);
      return made;
    };
    return el("div", { class: "record-controls" }, this.startButton, act("stop", "Stop", "End the recording"),
      act("flush", "Flush", "Write the samples so far"), act("reset", "Reset", "Discard the samples so far"),
      el("span", { class: "save" }, el("label", { for: "save-name" }, "Save as"), this.name,
        act("save", "Save", "Keep the samples as a session of this name")), this.watch, this.numbers);
  }

  private targetFields(): HTMLElement {
    const radios = TARGETS.map(([target, title]) => {
      const input = el("input", { type: "radio", name: "target", value: target, onchange: () => this.chooseTarget(target) });
      this.targets.set(target, input);
      return el("label", { class: "radio" }, input, title);
    });
    return el("fieldset", {}, el("legend", {}, "Target"), el("div", { class: "radios" }, ...radios),
      el("div", { class: "fields", "data-target": "program" }, el("label", { for: "program" }, "Command line"), this.program,
        el("label", { for: "directory" }, "Directory"), this.directory),
      el("div", { "data-target": "process" }, this.processSearch, button("Refresh", () => void this.loadProcesses()), this.processes),
      el("p", { "data-target": "system", class: "dim" }, "All processes and the kernel, until you press Stop."),
      el("p", { "data-target": "daemon", class: "dim" },
        "oprofiled records all the time. Start and Stop send requests to its socket, with its permissions."));
  }

  private optionFields(): HTMLElement {
    const boxes = SEPARATE.map((name) => {
      const input = el("input", { type: "checkbox", id: `separate-${name}` });
      this.separate.set(name, input);
      return el("label", { class: "radio" }, input, name);
    });
    return el("fieldset", {}, el("legend", {}, "Options"), this.callgraph.root,
      el("div", { class: "radios", role: "group", "aria-label": "Separate samples by" }, el("span", {}, "Separate by"), ...boxes),
      el("div", { class: "fields" }, el("label", { for: "vmlinux" }, "Kernel image"), this.vmlinux));
  }

  private chooseTarget(target: Target): void {
    this.target = target;
    for (const [name, input] of this.targets)
      input.checked = name === target;
    for (const part of this.form.querySelectorAll<HTMLElement>("[data-target]"))
      part.hidden = part.dataset.target !== target;
    if (target === "process" && !this.running.length && this.opened)
      void this.loadProcesses();
  }

  update(state: State): void {
    if (state.tab === "record" && !this.opened) {
      this.opened = true;
      void this.open();
    }
    this.showStatus();
  }

  private async open(): Promise<void> {
    await this.guarded(async () => {
      const [settings, status] = await Promise.all([this.recorder.settings(), this.recorder.status()]);
      this.setStatus(status);
      this.restore(settings);
      this.picker.show(await this.recorder.events(), settings.events ?? []);
    });
    setInterval(() => {
      if (this.recording)
        void this.recorder.status().then((status) => this.setStatus(status)).catch(() => {});
    }, 1000);
    this.root.dataset.ready = "1";
  }

  private restore(settings: Partial<RecordSettings>): void {
    if (settings.argv?.length)
      this.program.value = joinArguments(settings.argv);
    this.directory.value = settings.directory ?? "";
    this.vmlinux.value = settings.vmlinux ?? "";
    if (settings.callgraph)
      this.callgraph.set(settings.callgraph);
    for (const name of settings.separate ?? []) {
      const input = this.separate.get(name);
      if (input)
        input.checked = true;
    }
    if (settings.target && this.targets.has(settings.target))
      this.chooseTarget(settings.target);
  }

  private settings(): RecordSettings {
    return {
      target: this.target, argv: splitArguments(this.program.value), directory: this.directory.value || undefined,
      pid: this.target === "process" ? this.pid : undefined, events: this.picker.chosen(),
      callgraph: this.callgraph.select.value as RecordSettings["callgraph"],
      separate: [...this.separate].filter(([, input]) => input.checked).map(([name]) => name),
      vmlinux: this.vmlinux.value || undefined,
    };
  }

  private async guarded(act: () => Promise<void>): Promise<void> {
    try {
      this.error.hidden = true;
      await act();
    } catch (e) {
      showError(this.error, e);
      this.error.scrollIntoView({ block: "nearest" });
    }
  }

  private submitted(event: Event): void {
    event.preventDefault();
    if (!this.recording)
      void this.act("start");
  }

  private missing(settings: RecordSettings): string {
    if (settings.target === "program" && !settings.argv.length)
      return "Enter the command line of a program.";
    if (settings.target === "process" && settings.pid === undefined)
      return "Select a process.";
    return "";
  }

  private async act(action: RecordAction): Promise<void> {
    await this.guarded(async () => {
      const settings = this.settings(), missing = action === "start" ? this.missing(settings) : "";
      if (missing)
        throw new Error(missing);
      if (action === "start")
        await this.recorder.keep(settings);
      const body = action === "start" ? settings : action === "save" ? { name: this.name.value } : {};
      this.setStatus(await this.recorder.act(action, body));
      if (action === "reset" || action === "stop")
        this.live = null;
    });
  }

  private setStatus(status: RecordStatus): void {
    this.status = status;
    if (typeof status.state === "string")
      this.recording = status.state === "recording";
    else if (typeof status.recording === "boolean")
      this.recording = status.recording;
    if (typeof status.error === "string" && status.error) {
      fill(this.error, el("b", {}, status.error), typeof status.fix === "string" ? el("div", {}, status.fix) : null);
      this.error.hidden = false;
    }
    this.showStatus();
  }

  showLive(event: LiveEvent | null): void {
    if (!event)
      return;
    this.live = event;
    if (event.recording !== this.recording && this.opened)
      void this.recorder.status().then((status) => this.setStatus(status)).catch(() => {});
    this.showStatus();
  }

  private showStatus(): void {
    const { status, live, recording } = this, rows: [string, string][] = [];
    this.startButton.disabled = recording;
    for (const action of ["stop", "flush", "reset"] as const)
      (this.actions.get(action) as HTMLButtonElement).disabled = !recording;
    this.watch.hidden = !this.context.info.samples;
    if (typeof status.state === "string" && status.state !== "idle")
      rows.push(["state", status.state]);
    if (typeof status.seconds === "number" && status.seconds)
      rows.push(["time", duration(status.seconds * 1e9)]);
    const samples = live?.samples ?? (typeof status.samples === "number" ? status.samples : undefined);
    if (samples !== undefined && (recording || samples))
      rows.push(["samples", grouped(samples)]);
    if (live && recording)
      rows.push(["per second", brief(live.samples_per_s)], ["lost", grouped(live.lost)],
        ["cost", `${live.cost_percent.toFixed(1)} % of a CPU`]);
    fill(this.numbers, ...rows.map(([term, text]) => el("div", {}, el("dt", {}, term), el("dd", {}, text))));
  }

  private async loadProcesses(): Promise<void> {
    await this.guarded(async () => {
      this.running = await this.recorder.processes();
      this.showProcesses();
    });
  }

  private showProcesses(): void {
    const words = this.processSearch.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = this.running.filter(({ pid, comm, command, user }) => {
      const text = `${pid} ${comm} ${command ?? ""} ${user ?? ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    }).slice(0, 200);
    fill(this.processes, ...matching.map((one) => {
      const input = el("input", { type: "radio", name: "pid", value: one.pid, checked: one.pid === this.pid, onchange: () => { this.pid = one.pid; } });
      return el("li", {}, el("label", { title: one.command ?? one.comm }, input, el("span", { class: "n" }, one.pid),
        el("span", { class: "value" }, one.command || one.comm), el("span", { class: "dim" }, one.user ?? "")));
    }), !matching.length && el("li", { class: "dim" }, "No processes match."));
  }
}
