/* SPDX-License-Identifier: GPL-2.0-or-later */
// Frame colours: palettes that people with colour blindness can tell apart (by Okabe and
// Ito), for dark and light pages, each with a legend.
import { FlameModel } from "./flame_model";
import { baseName, hash, points } from "./format";
import { KINDS } from "./types";

export const COLOURINGS: readonly (readonly [string, string])[] =
  [["image", "by binary"], ["kind", "by kind"], ["name", "by name"]];
// Hue, saturation, lightness for light and for dark pages.
const OKABE: readonly (readonly [number, number, number, number])[] = [
  [202, 72, 74, 34], [41, 88, 68, 31], [164, 55, 67, 26], [327, 45, 78, 36], [56, 75, 66, 28],
  [26, 80, 72, 34], [222, 52, 78, 42], [90, 35, 70, 28]];
const GREY = [0, 0, 82, 30] as const, LARGEST = 0.1; // the change with the full colour

export function isDark(): boolean {
  const theme = document.documentElement.dataset.theme;
  return theme ? theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function hsl([hue, saturation, light, dark]: readonly [number, number, number, number]): string {
  return `hsl(${hue} ${saturation}% ${isDark() ? dark : light}%)`;
}

// Blue for a smaller share than in the base, orange for a larger one.
export function changeColour(change: number): string {
  const strength = Math.min(1, Math.sqrt(Math.abs(change) / LARGEST));
  if (strength < 0.05)
    return hsl([0, 0, 86, 28]);
  const light = isDark() ? 26 + 16 * strength : 90 - 28 * strength;
  return `hsl(${change > 0 ? 24 : 215} ${(20 + 70 * strength).toFixed(0)}% ${light.toFixed(0)}%)`;
}

export type LegendEntry = [colour: string, text: string];

export class Colouring {
  private readonly ofImage: string[] = [];
  private readonly ofSymbol: string[] = [];
  readonly legend: LegendEntry[] = [];
  readonly text: string;
  readonly found: string;
  readonly root: string;

  constructor(private readonly model: FlameModel, readonly name: string) {
    this.text = isDark() ? "#eef2f6" : "#14171c";
    this.found = isDark() ? "#b5179e" : "#ff7bf2";
    this.root = hsl([210, 10, 84, 27]);
    if (name === "image")
      this.byImage();
    else if (name === "kind")
      this.byKind();
    else if (name === "change")
      this.byChange();
    else
      this.byName();
  }

  // The heaviest binaries have a colour each.
  private byImage(): void {
    const { model } = this, self = new Float64Array(model.images.length);
    for (let i = 0; i < model.n; i++) {
      const image = model.symbols[model.symbol[i]]?.[1] ?? -1;
      if (image >= 0)
        self[image] += model.self[i];
    }
    // The colour of a name is the same in each answer, unless two heavy binaries would share one.
    const order = [...self.keys()].sort((a, b) => self[b] - self[a]).slice(0, OKABE.length);
    const used = new Set<number>();
    for (const image of order) {
      let at = hash(baseName(model.images[image])) % OKABE.length;
      while (used.has(at))
        at = (at + 1) % OKABE.length;
      used.add(at);
      this.ofImage[image] = hsl(OKABE[at]);
      this.legend.push([this.ofImage[image], baseName(model.images[image])]);
    }
    if (self.length > order.length)
      this.legend.push([hsl(GREY), "others"]);
  }

  private byKind(): void {
    const colours = [OKABE[0], OKABE[1], OKABE[2], GREY], seen = new Set<number>();
    this.model.symbols.forEach((s, i) => {
      this.ofSymbol[i] = hsl(colours[s[2]] ?? GREY);
      seen.add(s[2]);
    });
    for (const kind of [...seen].sort())
      this.legend.push([hsl(colours[kind] ?? GREY), KINDS[kind] ?? "other"]);
  }

  private byName(): void {
    this.model.symbols.forEach((s, i) => {
      const h = hash(s[0]);
      this.ofSymbol[i] = `hsl(${20 + h % 36} 72% ${(isDark() ? 27 : 66) + (h >> 8) % 9}%)`;
    });
    this.legend.push([hsl([38, 72, 70, 30]), "equal names have equal colours"]);
  }

  private byChange(): void {
    for (const change of [-LARGEST, -LARGEST / 5, 0, LARGEST / 5, LARGEST])
      this.legend.push([changeColour(change), change ? `${points(change)} points` : "equal share"]);
  }

  of(i: number): string {
    const { model } = this, symbol = model.symbol[i];
    if (model.found[i])
      return this.found;
    if (symbol < 0)
      return this.root;
    if (this.name === "change")
      return changeColour(model.change(i));
    if (this.name === "image")
      return this.ofImage[model.symbols[symbol][1]] ?? hsl(GREY);
    return this.ofSymbol[symbol] ?? hsl(GREY);
  }
}
