/* SPDX-License-Identifier: GPL-2.0-or-later */
// Chooses events of this CPU, each with a count or rate, a unit mask and modes.
import { append, button, el, fill, later } from "./dom";
import { ChosenEvent, EventChoice, EventList } from "./types";

const SHOWN = 100, RATE = 999;

interface Chosen {
  about: EventChoice;
  by: "rate" | "count";
  amount: number;
  mask: string;
  user: boolean;
  kernel: boolean;
}

function maskText(mask: string | number | undefined): string {
  return mask === undefined ? "" : String(mask);
}

export class EventPicker {
  readonly root = el("div", { class: "event-picker" });
  private readonly search: HTMLInputElement;
  private readonly found = el("ul", { class: "values events" });
  private readonly list = el("div", { class: "chosen-events" });
  private readonly count = el("span", { class: "dim" });
  private known: EventChoice[] = [];
  private picked: Chosen[] = [];

  constructor() {
    this.search = el("input", {
      type: "search", id: "event-search", placeholder: "Search events by name or description",
      "aria-label": "Search events by name or description", oninput: later(() => this.showFound(), 100),
    });
    append(this.root, this.list, el("div", { class: "event-search" }, this.search, this.count), this.found);
  }

  show(events: EventList, chosen: readonly ChosenEvent[]): void {
    const software = (events.software ?? []).map((e) => typeof e === "string" ? { name: e } : e);
    this.known = [...events.events, ...software];
    this.picked = chosen.flatMap((one) => {
      const about = this.known.find(({ name }) => name === one.name);
      return about ? [{
        about, by: one.count ? "count" as const : "rate" as const, amount: one.count ?? one.rate ?? RATE,
        mask: one.mask ?? maskText(about.default_mask), user: one.user, kernel: one.kernel,
      }] : [];
    });
    this.showFound();
    this.showChosen();
  }

  // No events: the server uses its default event.
  chosen(): ChosenEvent[] {
    return this.picked.map(({ about, by, amount, mask, user, kernel }) =>
      ({ name: about.name, [by]: amount, mask: mask || undefined, user, kernel }));
  }

  private showFound(): void {
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const matching = this.known.filter(({ name, about }) => {
      const text = `${name} ${about ?? ""}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    this.count.textContent = `${matching.length} of ${this.known.length} events`;
    fill(this.found, ...matching.slice(0, SHOWN).map((event) => el("li", {}, button(event.name, () => this.add(event),
      { class: "link", title: `Add ${event.name}` }), el("span", { class: "dim value", title: event.about }, event.about ?? ""))));
  }

  private add(about: EventChoice): void {
    if (!this.picked.some((one) => one.about.name === about.name))
      this.picked.push({ about, by: "rate", amount: RATE, mask: maskText(about.default_mask), user: true, kernel: true });
    this.showChosen();
  }

  private showChosen(): void {
    fill(this.list, ...this.picked.map((one) => this.row(one)), !this.picked.length &&
      el("p", { class: "dim" }, "The default event (CPU cycles, or a timer where there are none). Add others below."));
  }

  private row(one: Chosen): HTMLElement {
    const { name, min_count: least, masks } = one.about;
    const amount = el("input", { type: "number", min: 1, value: one.amount, "aria-label": `${name}: count or rate` });
    const check = () => {
      const low = one.by === "count" && least !== undefined && one.amount < least;
      amount.setCustomValidity(low ? `The smallest count is ${least}.` : "");
    };
    amount.addEventListener("change", () => {
      one.amount = Math.max(1, Math.round(Number(amount.value) || RATE));
      amount.value = String(one.amount);
      check();
    });
    const by = el("select", { "aria-label": `${name}: sample by` }, el("option", { value: "rate" }, "per second"),
      el("option", { value: "count" }, "events per sample"));
    by.value = one.by;
    by.addEventListener("change", () => {
      one.by = by.value as Chosen["by"];
      one.amount = one.by === "count" ? Math.max(100000, least ?? 0) : RATE;
      amount.value = String(one.amount);
      check();
    });
    const box = (key: "user" | "kernel") => {
      const input = el("input", { type: "checkbox", checked: one[key] });
      input.addEventListener("change", () => { one[key] = input.checked; });
      return el("label", { class: "radio" }, input, key);
    };
    return el("div", { class: "chosen-event" }, el("b", { title: one.about.about }, name), amount, by,
      masks?.length ? this.masks(one) : null, box("user"), box("kernel"), button("×", () => {
        this.picked = this.picked.filter((other) => other !== one);
        this.showChosen();
      }, { "aria-label": `Remove ${name}` }));
  }

  private masks(one: Chosen): HTMLElement {
    const select = el("select", { "aria-label": `${one.about.name}: unit mask` },
      ...(one.about.masks ?? []).map(({ name, about }) => el("option", { value: name }, about ? `${name}: ${about}` : name)));
    select.value = one.mask;
    select.addEventListener("change", () => { one.mask = select.value; });
    return select;
  }
}
