import fc from "fast-check";
import { expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import { DEFAULT_OPTIONS, THEMES } from "../render/options";
import { applySettings, SETTING_NAMES } from "./settings";
import { PARTS, Viewer } from "./viewer.svelte";

const trace = sampleTrace("x-times-x");

function viewer(): Viewer {
  const made = new Viewer({ onstep: () => undefined, onedge: () => undefined });
  made.trace = trace;
  return made;
}

const name = fc.oneof(
  { weight: 9, arbitrary: fc.constantFrom(...SETTING_NAMES) },
  fc.constantFrom("__proto__", "constructor", "code", "c", "i", "v", "deck"),
  fc.string(),
);
const PLACES = " on off 1 0 -1 1e9 9.9 f1.4 1.3 2 3-1 1-2 1.2-2.4 NaN";
const WORDS = "dark pink title,zoom matrices title,<b> javascript:alert(1) <svg/onload=alert(1)>";
const known = fc.constantFrom(...`${PLACES} ${WORDS}`.split(" "));
const text = fc.oneof(fc.string({ unit: "binary" }), known, fc.double().map(String));

it("takes hashes of any kind: what it cannot read it names, and stands at a place that there is", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(name, text), { maxLength: 6 }), (keys) => {
      const shown = viewer();
      const unreadable = applySettings(shown, new URLSearchParams(keys));
      expect(unreadable.every((each) => SETTING_NAMES.includes(each))).toBe(true);
      if (shown.position.direction === "backward") expect(shown.stops).toContain(shown.state.place);
      expect(THEMES).toContain(shown.options.theme);
      expect(shown.options.precision).toBeGreaterThanOrEqual(2);
      expect(shown.options.precision).toBeLessThanOrEqual(9);
      expect([...shown.hidden].every((part) => PARTS.includes(part))).toBe(true);
      expect(shown.fullTool ?? "https:").toMatch(/^https?:/);
    }),
    { numRuns: 400 },
  );
});

it("leaves everything as it was where nothing can be read", () => {
  const shown = viewer();
  const hash = "s=9.9&step=x&phase=7&steps=3-1&theme=pink&digits=1e9&projector=yes&keys=?";
  const keys = new URLSearchParams(hash);
  expect(applySettings(shown, keys).toSorted()).toEqual([...keys.keys()].toSorted());
  expect(shown.position).toEqual({ direction: "backward", step: 0, phase: "collect" });
  expect(shown.options).toEqual(DEFAULT_OPTIONS);
  expect([shown.keys, shown.range]).toEqual([true, null]);
});
