import { expect, it } from "vitest";
import { commandOf } from "./keys";

const NONE = { shiftKey: false, ctrlKey: false, metaKey: false, altKey: false };

it.each([
  ["ArrowRight", "nextPhase", "nextStep"],
  ["ArrowLeft", "previousPhase", "previousStep"],
  ["PageDown", "nextPhase", null],
  ["PageUp", "previousPhase", null],
  [" ", "nextPhase", "previousPhase"],
  ["Home", "first", null],
  ["End", "last", null],
  ["Escape", "leave", null],
  ["/", "find", null],
  ["?", "keys", "keys"],
])("%s is %s, with shift %s", (key, command, shifted) => {
  expect(commandOf({ ...NONE, key }, false)).toBe(command);
  if (shifted !== null) expect(commandOf({ ...NONE, key, shiftKey: true }, false)).toBe(shifted);
  expect(commandOf({ ...NONE, key }, true)).toBe(key === " " ? "togglePlay" : command);
});

it("leaves letters, and what the browser uses with a modifier, alone", () => {
  for (const key of "abcdefghijklmnopqrstuvwxyz") expect(commandOf({ ...NONE, key }, false)).toBeNull();
  expect(commandOf({ ...NONE, key: "ArrowLeft", altKey: true }, false)).toBeNull();
  expect(commandOf({ ...NONE, key: "Home", ctrlKey: true }, false)).toBeNull();
});
