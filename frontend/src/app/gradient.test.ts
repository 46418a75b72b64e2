import { expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import { emptyTrace } from "../model/trace";
import { atHand } from "../protocol/samples";
import { startsPassesItself, whereVComesFrom } from "./gradient";

const said = [
  ["weights-as-v", "The program starts the backward pass itself in line 9, so v comes from there."],
  ["rows-of-j", "The program starts its 3 backward passes itself in line 10, so v comes from there."],
  [
    "double-backward",
    "The program starts its 2 backward passes itself in lines 7 and 11, so v comes from there.",
  ],
] as const;

it.each(said.filter(([slug]) => atHand(slug).length > 0))(
  "says where the v of %s comes from",
  (slug, sentence) => {
    const trace = sampleTrace(slug);
    expect(startsPassesItself(trace)).toBe(true);
    expect(whereVComesFrom(trace)).toBe(sentence);
  },
);

it.each(atHand("map", "sin-expression"))("leaves the v of %s to the page", (slug) => {
  expect(startsPassesItself(sampleTrace(slug))).toBe(false);
});

it("knows nothing of a trace without a pass", () => {
  expect(startsPassesItself(emptyTrace())).toBe(false);
});
