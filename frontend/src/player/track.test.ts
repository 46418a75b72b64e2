import { expect, it } from "vitest";
import { reachedAt, ticksOf } from "./track";

it("divides the way to a step's tick among its stops", () => {
  expect(ticksOf([4, 1, 2])).toEqual({
    steps: "M0 0.5V1.5M1 0.5V1.5M2 0.5V1.5M3 0.5V1.5",
    stops: "M0.25 0.7V1.3M0.5 0.7V1.3M0.75 0.7V1.3M2.5 0.7V1.3",
  });
  expect([1, 2, 3, 4].map((stop) => reachedAt(1, stop, 4, 2))).toEqual([0.125, 0.25, 0.375, 0.5]);
  expect([reachedAt(0, 0, 0, 2), reachedAt(2, 3, 3, 2), reachedAt(0, 0, 0, 0)]).toEqual([0, 1, 0]);
});

it("draws no tick that could not be told from the next", () => {
  expect(ticksOf(new Array(2000).fill(3))).toEqual({ steps: "", stops: "" });
});
