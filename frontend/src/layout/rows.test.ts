import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Box, Curve } from "./geometry";
import { boxesOverlap, pointAt } from "./geometry";
import { inRows, isWide, type Picture, rowsOf } from "./rows";

const GAP = 65;

/** Boxes beside each other, each led to the next, and some to a later one. */
function chainOf(widths: readonly number[], leaps: readonly (readonly [number, number])[]): Picture {
  const boxes = new Map<string, Box>();
  let x = 0;
  for (const [index, width] of widths.entries()) {
    boxes.set(`n${index}`, { x, y: (index % 3) * 7, width, height: 90 });
    x += width + GAP;
  }
  const curves = new Map<string, Curve>();
  const lead = (from: number, to: number): void => {
    const [tail, head] = [boxes.get(`n${from}`), boxes.get(`n${to}`)];
    if (tail === undefined || head === undefined || from >= to) return;
    const [start, end] = [
      { x: tail.x + tail.width, y: tail.y + 45 },
      { x: head.x, y: head.y + 45 },
    ];
    const bend = (end.x - start.x) / 2;
    curves.set(`${from}-${to}`, [start, { ...start, x: start.x + bend }, { ...end, x: end.x - bend }, end]);
  };
  for (let index = 0; index + 1 < widths.length; index += 1) lead(index, index + 1);
  for (const [from, to] of leaps) lead(from, to);
  return { width: x - GAP, height: 104, boxes, curves };
}

const isWithin = (dot: Box, box: Box): boolean =>
  dot.x > box.x && dot.y > box.y && dot.x + 2 < box.x + box.width && dot.y + 2 < box.y + box.height;

const chains = fc
  .array(fc.integer({ min: 90, max: 260 }), { minLength: 2, maxLength: 300 })
  .chain((widths) => {
    const place = fc.integer({ min: 0, max: widths.length - 1 });
    return fc.array(fc.tuple(place, place), { maxLength: 6 }).map((leaps) => chainOf(widths, leaps));
  });

describe("a chain in rows", () => {
  it("is as long as it is high, more or less, keeps every box whole and apart, and leads edges round them", () => {
    fc.assert(
      fc.property(chains, (picture) => {
        const rows = inRows(picture, rowsOf(picture));
        if (isWide(picture)) expect(rows.width / rows.height).toBeLessThan(6.5);
        else expect(rows).toBe(picture);
        const boxes = [...rows.boxes.values()];
        for (const [index, box] of boxes.entries()) {
          expect(box.x).toBeGreaterThanOrEqual(0);
          expect(box.x + box.width).toBeLessThanOrEqual(rows.width);
          expect(box.y + box.height).toBeLessThanOrEqual(rows.height);
          expect(boxes.slice(index + 1).some((other) => boxesOverlap(box, other))).toBe(false);
        }
        for (const [id, curve] of rows.curves) {
          const [from, to] = id.split("-").map((index) => boxes[Number(index)]);
          if (from === undefined || to === undefined) throw new Error(id);
          expect(curve[0]?.x).toBeCloseTo(from.x + from.width);
          expect(curve[0]?.y).toBeCloseTo(from.y + 45);
          expect(curve.at(-1)?.x).toBeCloseTo(to.x);
          expect(curve.at(-1)?.y).toBeCloseTo(to.y + 45);
          expect(curve.length % 3).toBe(1);
          // A leap over others was drawn through them here before it was led into rows.
          if (boxes.indexOf(to) - boxes.indexOf(from) > 1) continue;
          for (let share = 0.02; share < 1; share += 0.02) {
            const { x, y } = pointAt(curve, share) ?? { x: Number.NaN, y: Number.NaN };
            const dot = { x: x - 1, y: y - 1, width: 2, height: 2 };
            expect(boxes.filter((box) => isWithin(dot, box))).toEqual([]);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it("keeps its rows when a box grows", () => {
    const widths = Array.from({ length: 24 }, () => 150);
    const before = chainOf(widths, []);
    const after = chainOf(widths.with(5, 900), []);
    const rows = rowsOf(before);
    const rowOf = (picture: Picture): readonly number[] => {
      const placed = inRows(picture, rows);
      const tops = [...new Set([...placed.boxes.values()].map((box) => Math.round(box.y / 60)))];
      return [...placed.boxes.values()].map((box) => tops.indexOf(Math.round(box.y / 60)));
    };
    expect(rowOf(after)).toEqual(rowOf(before));
    expect(new Set(rows.values()).size).toBeGreaterThan(1);
  });
});
