/**
 * The keyboard of the player, as in a slide deck. Letters are left alone (WCAG 2.1.4), and so is every key that the
 * focused control needs for itself.
 */
import type { PlainKey } from "../words/say";

export const KEYS = {
  nextPhase: ["ArrowRight", " ", "PageDown"],
  previousPhase: ["ArrowLeft", "Shift+ ", "PageUp"],
  nextStep: ["Shift+ArrowRight"],
  previousStep: ["Shift+ArrowLeft"],
  first: ["Home"],
  last: ["End"],
  /** While it plays. */
  togglePlay: [" "],
  leave: ["Escape"],
  find: ["/"],
  keys: ["?"],
} as const;

/** What each does, in words. */
export const DOES = {
  nextPhase: "player-next-phase",
  previousPhase: "player-previous-phase",
  nextStep: "player-next-step",
  previousStep: "player-previous-step",
  first: "player-first-step",
  last: "player-last-step",
  togglePlay: "player-pause",
  leave: "player-leave",
  find: "player-find",
  keys: "player-keys",
} as const satisfies Record<Command, PlainKey>;

export type Command = keyof typeof KEYS;
export type KeyName = (typeof KEYS)[Command][number];

const commands = new Map<string, Command>();
for (const [command, names] of Object.entries(KEYS) as [Command, readonly string[]][])
  for (const name of names) if (!commands.has(name)) commands.set(name, command);

type Pressed = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">;

/** The command of a key; `isPlaying` decides whether space turns the page or pauses. Null: not ours. */
export function commandOf(pressed: Pressed, isPlaying: boolean): Command | null {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
  if (pressed.key === " " && isPlaying) return "togglePlay";
  return (
    (pressed.shiftKey ? commands.get(`Shift+${pressed.key}`) : undefined) ?? commands.get(pressed.key) ?? null
  );
}

/** Where every key belongs to what has the focus: a text is written, a choice is made, a box lies over the page. */
const OWNS_KEYS = "textarea, select, [contenteditable], .cm-editor, dialog, [popover]";
const IS_FIELD = "input:not([type=range], [type=checkbox], [type=radio])";

/** Of no use to a field of one line or a slider: presenters' clickers send these, wherever the focus is. */
const CLICKER = ["PageDown", "PageUp"];

/**
 * Whether the focused control uses this key itself: a text field every key, a slider its own, a group of radio buttons
 * the arrows, what can be pressed the space bar.
 */
export function isClaimed(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  const isIn = (selector: string): boolean => target.closest(selector) !== null;
  if (isIn(OWNS_KEYS)) return true;
  if (CLICKER.includes(key)) return false;
  if (isIn(IS_FIELD)) return true;
  if (isIn("input[type=range]")) return key !== " " && key !== "Escape";
  if (isIn("input[type=radio]") && key.startsWith("Arrow")) return true;
  return key === " " && isIn("button, a, summary, input, [role=button]");
}
