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

const TYPING = "input:not([type=range]), textarea, select, [contenteditable], .cm-editor";

/** Never a slider's: presenters' clickers send these, wherever the focus is. */
const CLICKER = ["PageDown", "PageUp"];

/** Whether the focused control uses this key itself: text fields all keys, sliders and buttons their own. */
export function isClaimed(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest(TYPING) !== null) return true;
  if (target.closest("input[type=range]") !== null)
    return key !== " " && key !== "Escape" && !CLICKER.includes(key);
  return key === " " && target.closest("button, a, summary, [role=button]") !== null;
}
