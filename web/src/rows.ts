/* SPDX-License-Identifier: GPL-2.0-or-later */
// A list of many rows of equal height, of which only the visible ones are elements.
import { append, eachFrame, el } from "./dom";

const EXTRA = 12; // rows above and below the visible ones
const PRINTED = 3000;

export class RowList {
  readonly root: HTMLElement;
  private readonly space = el("div", { class: "rows-space" });
  private readonly block = el("div", { class: "rows-block" });
  private readonly draw = eachFrame(() => this.paint());
  private nr = 0;
  private first = -1;
  private last = -1;
  private make: (i: number) => HTMLElement = () => el("div");
  painted: (first: number, last: number) => void = () => {};

  constructor(label: string, readonly height: number, more: Record<string, string | number> = {}) {
    this.root = el("div", {
      class: "rows", tabindex: 0, "aria-label": label, role: "group", onscroll: () => this.draw(), ...more,
    });
    append(this.space, this.block);
    append(this.root, this.space);
    new ResizeObserver(() => this.draw()).observe(this.root);
    addEventListener("beforeprint", () => this.paint(0, Math.min(this.nr, PRINTED)));
    addEventListener("afterprint", () => this.refresh());
  }

  show(nr: number, make: (i: number) => HTMLElement): void {
    this.nr = nr;
    this.make = make;
    this.space.style.height = `${nr * this.height}px`;
    this.refresh();
  }

  refresh(): void {
    this.first = this.last = -1;
    this.paint();
  }

  private paint(from?: number, to?: number): void {
    const top = this.root.scrollTop, visible = Math.ceil((this.root.clientHeight || 600) / this.height);
    const begin = Math.floor(top / this.height);
    const first = from ?? Math.max(0, begin - EXTRA), last = to ?? Math.min(this.nr, begin + visible + EXTRA);
    if (first !== this.first || last !== this.last) {
      this.first = first;
      this.last = last;
      const rows: HTMLElement[] = [];
      for (let i = first; i < last; i++)
        rows.push(this.make(i));
      this.block.replaceChildren(...rows);
      this.block.style.transform = `translateY(${first * this.height}px)`;
    }
    this.painted(first, last);
  }

  // Scrolls so that a row is in the middle.
  center(i: number): void {
    this.root.scrollTop = Math.max(0, i * this.height - this.root.clientHeight / 2 + this.height);
    this.refresh();
  }

  // Scrolls only if the row is not visible.
  reveal(i: number): void {
    const top = this.root.scrollTop, y = i * this.height;
    if (y < top || y + this.height > top + this.root.clientHeight)
      this.center(i);
    else
      this.refresh();
  }
}
