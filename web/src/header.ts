/* SPDX-License-Identifier: GPL-2.0-or-later */
// The facts of the recording, and the warnings in one line.
import { append, button, el, fill } from "./dom";
import { amount, brief, duration, grouped } from "./format";
import { State } from "./state";
import { Info, LiveEvent } from "./types";
import { Context, View } from "./view";

function localDate(text: string | undefined): string {
  const date = text ? new Date(text) : null;
  return date && !Number.isNaN(date.getTime()) ? date.toLocaleString() : text ?? "";
}

export class Header implements View {
  readonly root = el("header", { class: "top" });
  readonly tools = el("div", { class: "tools" });
  private readonly title = el("h1");
  private readonly facts = el("dl", { class: "facts" });
  private readonly warnings = el("details", { class: "warning-line", hidden: true });
  private readonly live = el("span", { class: "live", hidden: true, role: "status", "aria-live": "off" });

  constructor(private readonly context: Context) {
    append(this.root, el("div", { class: "title-row" }, this.title, this.live, this.tools), this.facts, this.warnings);
  }

  update(_: State): void {
    const { info } = this.context;
    this.title.textContent = info.command || info.title || "oprofile";
    this.title.title = info.command || info.title;
    document.title = info.title || info.command ? `${info.title || info.command} – oprofile` : "oprofile view";
    fill(this.facts, ...this.factsOf(info).flatMap(([term, text]) => text
      ? [el("div", {}, el("dt", {}, term), el("dd", { title: text }, text))] : []));
    this.showWarnings(info.warnings ?? []);
  }

  private factsOf(info: Info): [string, string][] {
    const event = info.events.find((e) => e.name === this.context.store.state.sel.event) ?? info.events[0];
    const sides = info as unknown as Record<"base" | "new", { title?: string; samples?: number } | undefined>;
    if (info.compare)
      return (["base", "new"] as const).map((name): [string, string] =>
        [name, `${sides[name]?.title ?? ""}${sides[name]?.samples ? `, ${grouped(sides[name]?.samples ?? 0)} samples` : ""}`]);
    return [
      ["host", info.host ?? ""], ["date", localDate(info.date)],
      ["duration", info.duration_ns ? duration(info.duration_ns) : ""],
      ["rate", info.rate_hz ? `${grouped(info.rate_hz)} Hz` : ""],
      ["samples", event ? event.unit === "ns" ? amount(event.samples, "ns") : grouped(event.samples) : "0"],
      ["lost", info.lost ? grouped(info.lost) : ""],
      ["threads", info.threads ? grouped(info.threads) : ""],
    ];
  }

  private showWarnings(warnings: string[]): void {
    this.warnings.hidden = !warnings.length;
    if (warnings.length)
      fill(this.warnings, el("summary", { title: warnings[0] }, warnings.length > 1
        ? `${warnings.length} warnings: ${warnings[0]}` : warnings[0]),
      el("ul", {}, ...warnings.map((text) => el("li", {}, text))));
  }

  // The numbers of a running recording; null: the server does not answer.
  showLive(event: LiveEvent | null): void {
    this.live.hidden = !event?.recording;
    if (event?.recording)
      fill(this.live, el("i"), `recording · ${brief(event.samples_per_s)} samples/s` +
        `${event.lost ? ` · ${brief(event.lost)} lost` : ""} · cost ${event.cost_percent.toFixed(1)} %`);
  }
}

// A button that opens a list of actions.
export function menuButton(title: string, items: () => { name: string; act(): void }[],
  more: Record<string, string> = {}): HTMLElement {
  const list = el("div", { class: "menu actions", role: "menu", hidden: true });
  const opener: HTMLButtonElement = button(title, () => toggle(), { "aria-haspopup": "menu", "aria-expanded": "false", ...more });
  const close = () => {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
  };
  const toggle = () => {
    if (!list.hidden) {
      close();
      return;
    }
    fill(list, ...items().map(({ name, act }) => button(name, () => {
      close();
      opener.focus();
      act();
    }, { role: "menuitem" })));
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    list.querySelector("button")?.focus();
  };
  list.addEventListener("keydown", (e) => {
    const entries = [...list.querySelectorAll("button")], at = entries.indexOf(document.activeElement as HTMLButtonElement);
    if (e.key === "Escape") {
      close();
      opener.focus();
    } else if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      entries[(at + (e.key === "ArrowDown" ? 1 : -1) + entries.length) % entries.length]?.focus();
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  });
  document.addEventListener("pointerdown", (e) => {
    if (!list.contains(e.target as Node) && e.target !== opener)
      close();
  });
  return el("span", { class: "menu-holder" }, opener, list);
}
