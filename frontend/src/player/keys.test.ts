import { describe, expect, it } from "vitest";
import { commandOf } from "./keys";

const NONE = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };
const press = (key: string, shiftKey = false) => ({ ...NONE, key, shiftKey });

describe("keys", () => {
  it.each([
    ["ArrowRight", false, "nextPhase"],
    ["ArrowLeft", false, "previousPhase"],
    ["ArrowRight", true, "nextStep"],
    ["ArrowLeft", true, "previousStep"],
    ["PageDown", false, "nextPhase"],
    ["PageUp", false, "previousPhase"],
    [" ", false, "nextPhase"],
    [" ", true, "previousPhase"],
    ["Home", false, "first"],
    ["End", false, "last"],
    ["Escape", false, "leave"],
  ])("%s (shift: %s) is %s", (key, shift, command) => {
    expect(commandOf(press(key, shift), false)).toBe(command);
  });

  it("pauses with space while playing", () => {
    expect(commandOf(press(" "), true)).toBe("togglePlay");
  });

  it("leaves letters, and what the browser uses with a modifier, alone", () => {
    for (const key of "abcdefghijklmnopqrstuvwxyz") expect(commandOf(press(key), false)).toBeNull();
    expect(commandOf({ ...press("ArrowLeft"), altKey: true }, false)).toBeNull();
    expect(commandOf({ ...press("Home"), ctrlKey: true }, false)).toBeNull();
  });
});
