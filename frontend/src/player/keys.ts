/**
 * The keyboard of the player, as in a slide deck. Letters are left alone (WCAG 2.1.4), and so is every key that the
 * focused control needs for itself.
 */
export type Command =
  | "nextPhase"
  | "previousPhase"
  | "nextStep"
  | "previousStep"
  | "first"
  | "last"
  | "togglePlay"
  | "leave";

interface Pressed {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** The command of a key; `isPlaying` decides whether space turns the page or pauses. Null: not ours. */
export function commandOf(pressed: Pressed, isPlaying: boolean): Command | null {
  if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return null;
  switch (pressed.key) {
    case "ArrowRight":
      return pressed.shiftKey ? "nextStep" : "nextPhase";
    case "ArrowLeft":
      return pressed.shiftKey ? "previousStep" : "previousPhase";
    case " ":
      if (isPlaying) return "togglePlay";
      return pressed.shiftKey ? "previousPhase" : "nextPhase";
    case "PageDown":
      return "nextPhase";
    case "PageUp":
      return "previousPhase";
    case "Home":
      return "first";
    case "End":
      return "last";
    case "Escape":
      return "leave";
    default:
      return null;
  }
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
