/**
 * What an author sets on an element, in a frame's address or by a message, all as text. What cannot be read changes
 * nothing and is named in the answer.
 */
import { parsePosition } from "../model/position";
import { useLanguage } from "../render/language.svelte";
import { type PlayerOptions, readDigits, readSwitch, readTheme } from "../render/options";
import { parseView } from "../scene/views";
import { isSpoken } from "../words/languages";
import { parseRange } from "./moves";
import { PARTS, type Part, type Viewer } from "./viewer.svelte";

type Reader = (viewer: Viewer, text: string) => boolean;

/** A reader that takes over what a text says; false for a text that says nothing. */
function reader<T>(read: (text: string) => T | null, take: (viewer: Viewer, value: T) => void): Reader {
  return (viewer, text) => {
    const value = read(text);
    if (value !== null) take(viewer, value);
    return value !== null;
  };
}

/** The same for one of the player's options. */
function option<Name extends keyof PlayerOptions>(
  name: Name,
  read: (text: string) => PlayerOptions[Name] | null,
): Reader {
  return reader(read, (viewer, value) => {
    viewer.options = { ...viewer.options, [name]: value };
  });
}

const place = reader(parsePosition, (viewer, position) => viewer.placeAt(position));

/** Each returns false for a text that it cannot read. */
const READERS: Readonly<Record<string, Reader>> = {
  step: place,
  s: place,
  phase: (viewer, text) => {
    const { direction, step } = viewer.wanted;
    return place(viewer, `${direction === "forward" ? "f" : ""}${step}.${text}`);
  },
  steps: (viewer, text) => {
    const range = text === "" ? null : parseRange(text);
    if (text !== "" && range === null) return false;
    viewer.range = range;
    viewer.goTo(viewer.wanted);
    return true;
  },
  theme: option("theme", readTheme),
  lang: reader(
    (text) => (isSpoken(text) ? text : null),
    (_viewer, language) => void useLanguage(language),
  ),
  digits: option("precision", readDigits),
  view: option("view", parseView),
  projector: option("projector", readSwitch),
  keys: reader(readSwitch, (viewer, keys) => {
    viewer.keys = keys;
  }),
  inputs: reader(readSwitch, (viewer, interactive) => {
    viewer.interactive = interactive;
  }),
  hide: (viewer, text) => {
    const names = text.split(/[\s,]+/).filter((name) => name !== "");
    const parts = names.filter(isPart);
    viewer.hidden = new Set(parts);
    return parts.length === names.length;
  },
  heading: reader(
    (text) => text.slice(0, 200),
    (viewer, heading) => {
      viewer.heading = heading;
    },
  ),
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
