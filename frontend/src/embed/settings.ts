/**
 * What an author sets on an element, in a frame's address or by a message, all as text. What cannot be read changes
 * nothing and is named in the answer.
 */
import { type Position, parsePosition } from "../model/position";
import { useLanguage } from "../render/language.svelte";
import type { Theme } from "../render/options";
import { parseView } from "../scene/views";
import { isSpoken } from "../words/languages";
import { parseRange } from "./moves";
import { PARTS, type Part, type Viewer } from "./viewer.svelte";

const THEMES: readonly Theme[] = ["auto", "light", "dark", "contrast"];
const DIGITS = { min: 2, max: 9 };

/** Each returns false for a text that it cannot read. */
const READERS: Readonly<Record<string, (viewer: Viewer, text: string) => boolean>> = {
  step: (viewer, text) => goTo(viewer, parsePosition(text)),
  s: (viewer, text) => goTo(viewer, parsePosition(text)),
  phase: (viewer, text) => {
    const { direction, step } = viewer.wanted;
    const prefix = direction === "forward" ? "f" : "";
    return goTo(viewer, parsePosition(`${prefix}${step}.${text}`));
  },
  steps: (viewer, text) => {
    const range = text === "" ? null : parseRange(text);
    if (text !== "" && range === null) return false;
    viewer.range = range;
    viewer.goTo(viewer.wanted);
    return true;
  },
  theme: (viewer, text) => {
    const theme = THEMES.find((name) => name === text);
    if (theme === undefined) return false;
    viewer.options = { ...viewer.options, theme };
    return true;
  },
  lang: (_viewer, text) => {
    if (!isSpoken(text)) return false;
    void useLanguage(text);
    return true;
  },
  digits: (viewer, text) => {
    const precision = Number(text);
    if (!Number.isInteger(precision) || precision < DIGITS.min || precision > DIGITS.max) return false;
    viewer.options = { ...viewer.options, precision };
    return true;
  },
  view: (viewer, text) => {
    const view = parseView(text);
    if (view === null) return false;
    viewer.options = { ...viewer.options, view };
    return true;
  },
  projector: (viewer, text) => {
    const projector = readSwitch(text);
    if (projector === null) return false;
    viewer.options = { ...viewer.options, projector };
    return true;
  },
  keys: (viewer, text) => {
    const keys = readSwitch(text);
    if (keys === null) return false;
    viewer.keys = keys;
    return true;
  },
  inputs: (viewer, text) => {
    const interactive = readSwitch(text);
    if (interactive === null) return false;
    viewer.interactive = interactive;
    return true;
  },
  hide: (viewer, text) => {
    const names = text.split(/[\s,]+/).filter((name) => name !== "");
    const parts = names.filter(isPart);
    viewer.hidden = new Set(parts);
    return parts.length === names.length;
  },
  heading: (viewer, text) => {
    viewer.heading = text.slice(0, 200);
    return true;
  },
  open: (viewer, text) => {
    viewer.fullTool = isWebAddress(text) ? text : null;
    return viewer.fullTool !== null;
  },
};

/** Names of all settings, in the order in which they are to be applied. */
export const SETTING_NAMES: readonly string[] = Object.keys(READERS);

/** Takes over one setting; false when there is no such setting or its text cannot be read. */
export function applySetting(viewer: Viewer, name: string, text: string): boolean {
  const read = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
  return read?.(viewer, text) ?? false;
}

/** Takes over everything that `keys` hold; the names of what could not be read. Other keys are passed over. */
export function applySettings(viewer: Viewer, keys: URLSearchParams): readonly string[] {
  return SETTING_NAMES.filter((name) => {
    const text = keys.get(name);
    return text !== null && !applySetting(viewer, name, text);
  });
}

function goTo(viewer: Viewer, position: Position | null): boolean {
  if (position === null) return false;
  viewer.isPlaced = true;
  viewer.goTo(position);
  return true;
}

function readSwitch(text: string): boolean | null {
  if (["on", "1", "true", ""].includes(text)) return true;
  return ["off", "0", "false"].includes(text) ? false : null;
}

function isPart(name: string): name is Part {
  return (PARTS as readonly string[]).includes(name);
}

function isWebAddress(text: string): boolean {
  try {
    return ["http:", "https:"].includes(new URL(text, document.baseURI).protocol);
  } catch {
    return false;
  }
}
