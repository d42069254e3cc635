/* SPDX-License-Identifier: GPL-2.0-or-later */
// The page: header, timeline, filters, tabs and the panel, with one state.
import { CodeTab } from "./code";
import { isDark } from "./colours";
import { copyText } from "./copy";
import { append, button, el, fill, stored } from "./dom";
import { FilterBar } from "./filter_bar";
import { FlameTab } from "./flame";
import { FunctionTab } from "./function";
import { Header, menuButton } from "./header";
import { showHelp } from "./help";
import { Panel } from "./panel";
import { QualityTab } from "./quality";
import { RecordTab } from "./record";
import { State, Store, Tab, TABS } from "./state";
import { TableTab } from "./table";
import { TimelineView } from "./timeline";
import { Info, LiveEvent, Source } from "./types";
import { Context, showError, View } from "./view";

const TITLES: Record<Tab, string> = {
  flame: "Flame graph", table: "Table", function: "Function", source: "Source", quality: "Quality",
  record: "Record",
};

export class App implements Context {
  readonly store = new Store();
  generation: number;
  readonly flame: FlameTab;
  private readonly header: Header;
  private readonly filters: FilterBar;
  private readonly timeline: TimelineView;
  private readonly panel: Panel;
  private readonly tabs: Partial<Record<Tab, View>>;
  private readonly buttons = new Map<Tab, HTMLButtonElement>();
  private readonly all: View[];
  private refreshing = false;

  constructor(readonly source: Source, public info: Info, private readonly root: HTMLElement) {
    this.generation = info.generation ?? 0;
    this.applyTheme(stored("oprofile-theme"));
    this.header = new Header(this);
    this.filters = new FilterBar(this);
    this.timeline = new TimelineView(this);
    this.flame = new FlameTab(this);
    this.panel = new Panel(this);
    this.panel.graph = () => this.flame.graph;
    this.panel.copy = (text) => void copyText(text);
    this.tabs = {
      flame: this.flame, table: new TableTab(this), function: new FunctionTab(this), source: new CodeTab(this),
      quality: new QualityTab(this),
    };
    if (source.recorder && info.record)
      this.tabs.record = new RecordTab(this, source.recorder);
    this.all = [this.header, this.timeline, this.filters, ...Object.values(this.tabs), this.panel];
    this.build();
    this.store.listen((state) => this.update(state));
    if (!info.samples && this.tabs.record && !location.hash)
      this.store.set({ tab: "record" }, true);
    this.update(this.store.state);
    source.live((event) => this.heardLive(event));
    addEventListener("keydown", (event) => this.key(event));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
  }

  private build(): void {
    const bar = el("div", { class: "tabs", role: "tablist", "aria-label": "Views", onkeydown: (e: KeyboardEvent) => this.tabKey(e) });
    for (const tab of TABS) {
      const view = this.tabs[tab];
      if (!view)
        continue;
      view.root.id = `view-${tab}`;
      view.root.setAttribute("role", "tabpanel");
      const opener = button(TITLES[tab], () => this.store.set({ tab }),
        { role: "tab", id: `tab-${tab}`, "aria-controls": view.root.id });
      this.buttons.set(tab, opener);
      append(bar, opener);
    }
    append(this.header.tools,
      menuButton("Copy", () => this.copies(), { id: "copy", title: "Copy this view" }),
      button("Names", () => this.store.set({ full: !this.store.state.full }),
        { id: "names", title: "Short or full names of C++ functions (c)", "aria-pressed": "false" }),
      button("◐", () => this.toggleTheme(), { id: "theme", "aria-label": "Light or dark page", title: "Light or dark page (t)" }),
      button("?", showHelp, { id: "help", "aria-label": "Keys", title: "Keys (?)" }));
    fill(this.root, this.header.root, this.timeline.root, this.filters.root, bar,
      el("main", {}, el("div", { class: "views" }, ...TABS.map((tab) => this.tabs[tab]?.root)), this.panel.root));
  }

  unit(): string | undefined {
    const { event } = this.store.state.sel;
    return (this.info.events.find((e) => e.name === event) ?? this.info.events[0])?.unit;
  }

  showFunction(symbol: string, image: string): void {
    this.store.set({ symbol, image });
  }

  private copies(): { name: string; act(): void }[] {
    return (this.tabs[this.store.state.tab]?.copies?.() ?? []).map(({ name, text }) => ({
      name, act: () => void text().then(copyText).catch((e: unknown) => this.failed(e)),
    })).concat([{ name: "Link to this view", act: () => void copyText(location.href) }]);
  }

  private failed(e: unknown): void {
    const box = el("div", { class: "error floating", role: "alert" });
    showError(box, e);
    document.body.append(box);
    setTimeout(() => box.remove(), 6000);
  }

  private update(state: State): void {
    const tab = this.tabs[state.tab] ? state.tab : "flame";
    this.root.dataset.tab = tab;
    this.root.classList.toggle("no-samples", !this.info.samples);
    this.root.classList.toggle("with-panel", state.symbol !== "" && tab !== "quality" && tab !== "record");
    for (const [name, opener] of this.buttons) {
      opener.setAttribute("aria-selected", String(name === tab));
      opener.tabIndex = name === tab ? 0 : -1;
      (this.tabs[name] as View).root.hidden = name !== tab;
    }
    document.getElementById("names")?.setAttribute("aria-pressed", String(state.full));
    this.panel.root.hidden = tab === "quality" || tab === "record";
    this.header.update(state);
    this.timeline.update(state);
    this.filters.update(state);
    if (tab === "record" || this.info.samples)
      this.tabs[tab]?.update(state);
    this.panel.update(state);
  }

  private tabKey(event: KeyboardEvent): void {
    const known = [...this.buttons.keys()], at = known.indexOf(this.store.state.tab);
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!by)
      return;
    const tab = known[(at + by + known.length) % known.length];
    event.preventDefault();
    this.store.set({ tab });
    this.buttons.get(tab)?.focus();
  }

  private key(event: KeyboardEvent): void {
    const on = event.target as Element;
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]"))
      return;
    if (event.key === "Escape") {
      this.escape(on);
      return;
    }
    if (on.matches("input:not([type=checkbox]), textarea, select"))
      return;
    const keys: Record<string, () => void> = {
      "/": () => {
        this.store.set({ tab: "flame" });
        this.flame.focusSearch();
      },
      "?": showHelp, t: () => this.toggleTheme(), F: () => this.filters.openMenu(),
      c: () => this.store.set({ full: !this.store.state.full }), i: () => this.flame.toggle(),
    };
    const tab = [...this.buttons.keys()][Number(event.key) - 1];
    const act = keys[event.key] ?? (tab && (() => this.store.set({ tab })));
    if (!act)
      return;
    event.preventDefault();
    act();
  }

  private escape(on: Element): void {
    const { sel, zoom } = this.store.state;
    if (on instanceof HTMLElement && on.matches("input"))
      on.blur();
    else if (zoom)
      this.flame.graph.zoom(0);
    else if (sel.from !== undefined || sel.to !== undefined)
      this.timeline.show(null);
  }

  private applyTheme(name: string | null): void {
    if (name === "light" || name === "dark")
      document.documentElement.dataset.theme = name;
  }

  private toggleTheme(): void {
    const name = isDark() ? "light" : "dark";
    this.applyTheme(name);
    stored("oprofile-theme", name);
    this.repaint();
  }

  private repaint(): void {
    for (const view of this.all)
      view.repaint?.();
  }

  private heardLive(event: LiveEvent | null): void {
    this.header.showLive(event);
    (this.tabs.record as RecordTab | undefined)?.showLive(event);
    if (event && event.generation !== this.generation && !this.refreshing)
      void this.refresh(event.generation);
  }

  // Loads all data again: the recording has grown.
  async refresh(generation: number): Promise<void> {
    this.refreshing = true;
    try {
      const info = await this.source.info();
      this.info = info;
      this.generation = info.generation ?? generation;
      this.update(this.store.state);
    } catch (e) {
      console.warn(e);
    } finally {
      this.refreshing = false;
    }
  }
}
