/* SPDX-License-Identifier: GPL-2.0-or-later */
// The source and the instructions of a function, next to each other.
import { append, button, el, fill, sheet } from "./dom";
import { csvCell, grouped, percent } from "./format";
import { RowList } from "./rows";
import { selectionKey, State } from "./state";
import { instructionTokens, Token, Tokenizer } from "./tokens";
import { Code, Instruction } from "./types";
import { Context, errorBox, Loader, View } from "./view";

const ROW = 18, ARROWS = 48, LANES = 6;

interface Jump {
  from: number; // rows
  to: number;
  lane: number;
}

function hex(address: string | number | undefined): string {
  if (address === undefined)
    return "";
  return typeof address === "number" ? address.toString(16) : address.replace(/^0x/, "");
}

function spans(tokens: Token[]): HTMLElement[] {
  return tokens.map(([kind, text]) => el("span", kind ? { class: `t-${kind}` } : {}, text));
}

export class CodeTab implements View {
  readonly root = el("section", { class: "code-tab", "aria-label": "Source" });
  private readonly error = errorBox();
  private readonly loader = new Loader(this.root, this.error);
  private readonly hint = el("p", { class: "empty" },
    "Select a function in the flame graph or in the table to see its source.");
  private readonly title = el("span", { class: "code-title" });
  private readonly missing = el("p", { class: "note", hidden: true });
  private readonly lines = new RowList("Source lines", ROW);
  private readonly code = new RowList("Instructions", ROW);
  private readonly arrows = el("canvas", { class: "arrows", "aria-hidden": "true" });
  private readonly panes: HTMLElement;
  private readonly bar: HTMLElement;
  private answer: Code | null = null;
  private tokens: Token[][] = [];
  private jumps: Jump[] = [];
  private line = -1; // the selected line
  private row = -1; // the selected instruction
  private most = 1;
  private mostCode = 1;

  constructor(private readonly context: Context) {
    const { store } = context;
    this.bar = el("div", { class: "toolbar", role: "toolbar", "aria-label": "Source", hidden: true }, this.title,
      button("Hottest", () => this.hottest(), { title: "Show the line with the most samples (h)" }),
      button("Next", () => this.step(1), { title: "Next line with samples (n)" }),
      button("Previous", () => this.step(-1), { title: "Previous line with samples (p)" }),
      button("Function", () => store.set({ tab: "function" }), { title: "Callers and callees" }));
    this.panes = el("div", { class: "panes", hidden: true },
      el("div", { class: "pane source" }, el("h3", {}, "Source"), this.lines.root),
      el("div", { class: "pane assembly" }, el("h3", {}, "Instructions"), this.code.root));
    append(this.root, this.bar, this.error, this.hint, this.missing, this.panes);
    this.code.root.append(this.arrows);
    this.code.painted = () => this.paintArrows();
    this.lines.root.addEventListener("keydown", (e) => this.key(e, "line"));
    this.code.root.addEventListener("keydown", (e) => this.key(e, "row"));
    this.lines.root.addEventListener("click", (e) => this.clicked(e, (i) => this.chooseLine(i)));
    this.code.root.addEventListener("click", (e) => this.clicked(e, (i) => this.chooseRow(i)));
  }

  private clicked(event: MouseEvent, choose: (i: number) => void): void {
    const row = (event.target as Element).closest<HTMLElement>("[data-row]");
    if (row && !getSelection()?.toString())
      choose(Number(row.dataset.row));
  }

  update(state: State): void {
    const { context } = this;
    this.hint.hidden = state.symbol !== "";
    if (!state.symbol) {
      this.panes.hidden = this.bar.hidden = this.missing.hidden = true;
      this.loader.forget();
      return;
    }
    const key = `${state.symbol}\0${state.image}?${selectionKey(state.sel)}#${context.generation}`;
    if (key !== this.root.dataset.shown)
      this.panes.classList.add("old");
    this.loader.load(key, (signal) => context.source.code(state.sel, state.symbol, state.image, signal),
      (answer) => this.show(answer));
    if (!this.error.hidden)
      this.panes.hidden = this.bar.hidden = true;
  }

  private show(answer: Code): void {
    const same = this.answer?.symbol === answer.symbol && this.answer.image === answer.image;
    this.answer = answer;
    this.panes.hidden = !answer.lines.length && !answer.code.length;
    this.bar.hidden = false;
    this.panes.classList.remove("old");
    fill(this.title, el("b", { title: this.context.store.state.symbol }, answer.symbol),
      answer.file ? el("span", { class: "dim", title: answer.file }, ` ${answer.file}`) : null);
    this.missing.hidden = !answer.missing;
    this.missing.textContent = answer.missing ?? "";
    (this.lines.root.parentElement as HTMLElement).hidden = !answer.lines.length;
    (this.code.root.parentElement as HTMLElement).hidden = !answer.code.length;
    const tokenizer = new Tokenizer(answer.language, answer.file);
    let inside = false;
    this.tokens = answer.lines.map(({ text }) => {
      const line = tokenizer.line(text, inside);
      inside = line.inside;
      return line.tokens;
    });
    this.most = Math.max(1, ...answer.lines.map((line) => line.samples));
    this.mostCode = answer.code.reduce((most, { samples }) => Math.max(most, samples), 1);
    this.findJumps(answer.code);
    this.lines.show(answer.lines.length, (i) => this.lineRow(i));
    this.code.show(answer.code.length, (i) => this.codeRow(i));
    if (!same) {
      this.line = this.row = -1;
      this.hottest();
    }
    this.root.dataset.ready = "1";
  }

  // Each jump inside of the function gets a lane, so that arrows do not overlap.
  private findJumps(code: Instruction[]): void {
    const at = new Map(code.map((one, i) => [hex(one.address), i])), ends: number[][] = [];
    this.jumps = [];
    code.forEach((one, from) => {
      const to = one.target === undefined ? undefined : at.get(hex(one.target));
      if (to !== undefined)
        this.jumps.push({ from, to, lane: 0 });
    });
    this.jumps.sort((a, b) => Math.abs(a.from - a.to) - Math.abs(b.from - b.to));
    for (const jump of this.jumps.slice(0, 2000)) {
      const top = Math.min(jump.from, jump.to), bottom = Math.max(jump.from, jump.to);
      let lane = 0;
      while (lane < LANES - 1 && ends[lane]?.some((_, k) => k % 2 === 0 &&
        ends[lane][k] <= bottom && ends[lane][k + 1] >= top))
        lane++;
      (ends[lane] ??= []).push(top, bottom);
      jump.lane = lane;
    }
  }

  private heat(row: HTMLElement, samples: number, most: number): void {
    if (samples)
      row.style.setProperty("--heat", `${(8 + 52 * Math.sqrt(samples / most)).toFixed(0)}%`);
  }

  private share(samples: number): string {
    return samples ? percent(samples, this.answer?.samples ?? 0) : "";
  }

  private lineRow(i: number): HTMLElement {
    const line = (this.answer as Code).lines[i], row = el("div", {
      class: `code-row ${line.samples ? "hot" : ""} ${i === this.line ? "chosen" : ""}`, "data-row": i,
      title: line.samples ? `${grouped(line.samples)} samples` : undefined,
    }, el("span", { class: "n" }, this.share(line.samples)), el("span", { class: "nr" }, line.line),
    el("span", { class: "text" }, ...spans(this.tokens[i] ?? [["", line.text]])));
    this.heat(row, line.samples, this.most);
    return row;
  }

  private codeRow(i: number): HTMLElement {
    const { code, lines } = this.answer as Code, one = code[i];
    const line = this.line >= 0 && lines[this.line]?.line === one.line;
    const row = el("div", {
      class: `code-row ${one.samples ? "hot" : ""} ${i === this.row ? "chosen" : line ? "same-line" : ""}`,
      "data-row": i, title: [one.samples ? `${grouped(one.samples)} samples` : "", one.line ? `line ${one.line}` : "",
        one.bytes].filter(Boolean).join("; ") || undefined,
    }, el("span", { class: "n" }, this.share(one.samples)), el("span", { class: "nr address" }, hex(one.address)),
    el("span", { class: "text" }, ...spans(instructionTokens(one.text))));
    this.heat(row, one.samples, this.mostCode);
    return row;
  }

  private paintArrows(): void {
    const { root } = this.code, height = root.clientHeight;
    this.arrows.hidden = !this.jumps.length;
    this.arrows.style.top = `${root.scrollTop}px`;
    if (!this.jumps.length || !height)
      return;
    const ink = sheet(this.arrows, ARROWS, height), style = getComputedStyle(root);
    const dim = style.getPropertyValue("--dim"), strong = style.getPropertyValue("--link");
    const y = (row: number) => row * ROW - root.scrollTop + ROW / 2;
    for (const { from, to, lane } of this.jumps) {
      const a = y(from), b = y(to);
      if (Math.max(a, b) < 0 || Math.min(a, b) > height)
        continue;
      const x = ARROWS - 8 - lane * 6, chosen = from === this.row || to === this.row;
      ink.strokeStyle = ink.fillStyle = chosen ? strong : dim;
      ink.lineWidth = chosen ? 2 : 1;
      ink.beginPath();
      ink.moveTo(ARROWS - 1, a);
      ink.lineTo(x, a);
      ink.lineTo(x, b);
      ink.lineTo(ARROWS - 4, b);
      ink.stroke();
      ink.beginPath();
      ink.moveTo(ARROWS, b);
      ink.lineTo(ARROWS - 5, b - 3);
      ink.lineTo(ARROWS - 5, b + 3);
      ink.fill();
    }
  }

  private chooseLine(i: number): void {
    const { answer } = this;
    if (!answer)
      return;
    this.line = i;
    const { line } = answer.lines[i];
    let best = -1;
    answer.code.forEach((one, k) => {
      if (one.line === line && (best < 0 || one.samples > answer.code[best].samples))
        best = k;
    });
    this.row = best;
    this.lines.reveal(i);
    if (best >= 0)
      this.code.reveal(best);
    else
      this.code.refresh();
  }

  private chooseRow(i: number): void {
    const { answer } = this;
    if (!answer)
      return;
    this.row = i;
    this.line = answer.lines.findIndex(({ line }) => line === answer.code[i].line);
    this.code.reveal(i);
    if (this.line >= 0)
      this.lines.reveal(this.line);
  }

  private hottest(): void {
    const { answer } = this;
    if (!answer)
      return;
    let line = answer.lines.findIndex((one) => one.line === answer.hottest), row = -1;
    answer.code.forEach((one, i) => {
      if (one.samples && (row < 0 || one.samples > answer.code[row].samples))
        row = i;
    });
    if (line < 0)
      line = answer.lines.reduce((best, one, i) => one.samples > (answer.lines[best]?.samples ?? 0) ? i : best, -1);
    this.line = line;
    this.row = row;
    if (line >= 0)
      this.lines.center(line);
    if (row >= 0)
      this.code.center(row);
  }

  // Selects the next line with samples, or the previous one.
  private step(by: number): void {
    const { answer } = this;
    if (!answer)
      return;
    const useLines = answer.lines.some((line) => line.samples), list = useLines ? answer.lines : answer.code;
    const at = useLines ? this.line : this.row;
    for (let k = 1; k <= list.length; k++) {
      const i = (at + by * k + list.length * 2) % list.length;
      if (list[i].samples) {
        if (useLines)
          this.chooseLine(i);
        else
          this.chooseRow(i);
        return;
      }
    }
  }

  private key(event: KeyboardEvent, of: "line" | "row"): void {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.answer)
      return;
    const list = of === "line" ? this.answer.lines : this.answer.code;
    const choose = (i: number) => of === "line" ? this.chooseLine(i) : this.chooseRow(i);
    const move = (by: number) => choose(Math.min(list.length - 1, Math.max(0, this[of] + by)));
    const keys: Record<string, () => void> = {
      ArrowDown: () => move(1), ArrowUp: () => move(-1), n: () => this.step(1), p: () => this.step(-1),
      h: () => this.hottest(), Enter: () => this.followJump(),
    };
    const act = keys[event.key];
    if (!act || !list.length)
      return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  // Goes to the destination of the selected jump.
  private followJump(): void {
    const jump = this.jumps.find(({ from }) => from === this.row);
    if (jump)
      this.chooseRow(jump.to);
  }

  repaint(): void {
    this.paintArrows();
  }

  copies(): { name: string; text(): Promise<string> }[] {
    const { answer } = this;
    const lines = () => (answer?.lines ?? []).map(({ line, text, samples }) => [samples, line, text]);
    const code = () => (answer?.code ?? []).map((one) => [one.samples, hex(one.address), one.text]);
    const text = (rows: (string | number)[][]) => rows.map(([n, at, what]) =>
      `${String(n || "").padStart(8)} ${String(at).padStart(8)}  ${what}\n`).join("");
    const csv = (rows: (string | number)[][]) => rows.map((row) => row.map(csvCell).join(",")).join("\r\n") + "\r\n";
    return [
      { name: "Source as text", text: async () => text(lines()) },
      { name: "Instructions as text", text: async () => text(code()) },
      { name: "Source as CSV", text: async () => csv([["samples", "line", "text"], ...lines()]) },
      { name: "Instructions as CSV", text: async () => csv([["samples", "address", "text"], ...code()]) },
    ];
  }
}
