/* SPDX-License-Identifier: GPL-2.0-or-later */
// Makes elements. Names of functions and files are untrusted: they are only inserted as text.

type Value = string | number | boolean | undefined | null | ((event: never) => void);
export type Child = Node | string | number | null | undefined | false;

// Members whose names begin with "on" are listeners; true is an attribute without a value; false
// and undefined are left out.
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, Value> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function")
      made.addEventListener(name.slice(2), value as unknown as EventListener);
    else if (value !== false && value !== undefined && value !== null)
      made.setAttribute(name, value === true ? "" : String(value));
  }
  append(made, ...children);
  return made;
}

export function append(to: Element, ...children: Child[]): void {
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      to.append(typeof child === "number" ? String(child) : child);
}

export function fill(to: Element, ...children: Child[]): void {
  to.replaceChildren();
  append(to, ...children);
}

export function button(text: string, act: () => void, more: Record<string, Value> = {}): HTMLButtonElement {
  return el("button", { type: "button", onclick: () => act(), ...more }, text);
}

// A select element with a visible label. `choices` are [value, text].
export function choice(label: string, choices: readonly (readonly [string, string])[],
  chosen: (value: string) => void, more: Record<string, Value> = {}): {
    root: HTMLLabelElement; select: HTMLSelectElement; set(value: string): void;
  } {
  const select: HTMLSelectElement = el("select", { onchange: () => chosen(select.value), ...more },
    ...choices.map(([value, text]) => el("option", { value }, text)));
  return {
    root: el("label", { class: "choice" }, el("span", {}, label), select),
    select,
    set(value: string) {
      if (select.value !== value)
        select.value = value;
    },
  };
}

const announcer = el("div", { class: "unseen", role: "status", "aria-live": "polite" });

// Lets screen readers say a text.
export function announce(text: string): void {
  if (!announcer.isConnected)
    document.body.append(announcer);
  announcer.textContent = text;
}

const tip = el("div", { class: "tip", role: "tooltip", hidden: true });

// Shows a box next to the mouse, inside the window.
export function showTip(x: number, y: number, ...children: Child[]): void {
  if (!tip.isConnected)
    document.body.append(tip);
  fill(tip, ...children);
  tip.hidden = false;
  const width = tip.offsetWidth, height = tip.offsetHeight;
  const left = x + 14 + width > innerWidth ? Math.max(4, x - width - 10) : x + 14;
  const top = y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18;
  tip.style.left = `${left}px`;
  tip.style.top = `${top}px`;
}

export function hideTip(): void {
  tip.hidden = true;
}

// Sets the size of a canvas in pixels of the page and clears it.
export function sheet(canvas: HTMLCanvasElement, width: number, height: number):
  CanvasRenderingContext2D {
  const ratio = devicePixelRatio || 1, ink = canvas.getContext("2d") as CanvasRenderingContext2D;
  const w = Math.max(1, Math.round(width * ratio)), h = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  ink.clearRect(0, 0, width, height);
  return ink;
}

// Calls `act` at most once per frame of the screen.
export function eachFrame(act: () => void): () => void {
  let waiting = false;
  return () => {
    if (waiting)
      return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      act();
    });
  };
}

export function later(act: () => void, ms: number): () => void {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(act, ms);
  };
}

// Some browsers have no storage for local files.
export function stored(key: string, value?: string): string | null {
  try {
    if (value === undefined)
      return localStorage.getItem(key);
    localStorage.setItem(key, value);
  } catch {
    // Settings are lost when the page closes.
  }
  return null;
}
