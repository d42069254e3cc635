/* SPDX-License-Identifier: GPL-2.0-or-later */
// A view of the page: loads its data when the state changes.
import { el, fill } from "./dom";
import { State, Store } from "./state";
import { ApiError, Info, Source } from "./types";

// Shared by all views.
export interface Context {
  readonly source: Source;
  readonly store: Store;
  info: Info;
  generation: number; // of the data; increases while a recording runs
  // Shows a function in the panel.
  showFunction(symbol: string, image: string): void;
  unit(): string | undefined;
}

export interface View {
  readonly root: HTMLElement;
  update(state: State): void;
  // Draws again after a change of the theme.
  repaint?(): void;
  // The view's content as text, for copying.
  copies?(): { name: string; text(): Promise<string> }[];
}

// Runs one request at a time: a newer one aborts the one before. Equal keys are not repeated.
export class Loader {
  private key: string | null = null;
  private control: AbortController | null = null;

  constructor(private readonly root: HTMLElement, private readonly error: HTMLElement) {}

  load<T>(key: string, get: (signal: AbortSignal) => Promise<T>, show: (answer: T) => void): void {
    if (key === this.key)
      return;
    this.key = key;
    this.control?.abort();
    const control = this.control = new AbortController();
    const busy = window.setTimeout(() => this.root.classList.add("busy"), 250);
    get(control.signal).then((answer) => {
      if (control.signal.aborted)
        return;
      this.error.hidden = true;
      show(answer);
      this.root.dataset.shown = key;
    }).catch((e: unknown) => {
      if (control.signal.aborted)
        return;
      this.key = null;
      showError(this.error, e);
    }).finally(() => {
      clearTimeout(busy);
      if (!control.signal.aborted)
        this.root.classList.remove("busy");
    });
  }

  // Lets the next call load again.
  forget(): void {
    this.key = null;
  }
}

export function errorBox(): HTMLElement {
  return el("div", { class: "error", role: "alert", hidden: true });
}

export function showError(box: HTMLElement, e: unknown): void {
  const message = e instanceof Error ? e.message : String(e);
  fill(box, el("b", {}, message), e instanceof ApiError && e.fix ? el("div", {}, e.fix) : null);
  box.hidden = false;
  if (!(e instanceof ApiError))
    console.error(e);
}
