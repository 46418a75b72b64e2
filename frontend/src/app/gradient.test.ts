import { expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import { emptyTrace } from "../model/trace";
import { atHand } from "../protocol/samples";
import { startsPassesItself, whereVComesFrom } from "./gradient";

it.each(
  [
    ["weights-as-v", [9]],
    ["rows-of-j", [3, 10]],
    ["double-backward", [2, 7, 11]],
  ].filter(([slug]) => atHand(String(slug)).length > 0),
)("says where the v of %s comes from", (slug, numbers) => {
  const trace = sampleTrace(String(slug));
  expect(startsPassesItself(trace)).toBe(true);
  expect(whereVComesFrom(trace).match(/\d+/g)?.map(Number)).toEqual(numbers);
});

it.each(atHand("map", "sin-expression"))("leaves the v of %s to the page", (slug) => {
  expect(startsPassesItself(sampleTrace(slug))).toBe(false);
});

it("knows nothing of a trace without a pass", () => {
  expect(startsPassesItself(emptyTrace())).toBe(false);
});
