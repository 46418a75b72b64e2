import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boxesOverlap, pointAt } from "./geometry";
import { type Item, TOP } from "./levels";
import { type Layout, place } from "./place";
import { isWide } from "./rows";
import { layOutSimply } from "./spare";

const item = (id: string, width: number, home: string = TOP): Item => ({ id, home, width, height: 90 });
const edge = (from: string, to: string) => ({ id: `${from}-${to}`, from, to, isLoose: false });

/** Boxes each of which is led to the next, and some to a later one. */
function chainOf(widths: readonly number[], leaps: readonly (readonly [number, number])[]): Layout {
  const nodes = widths.map((width, at) => item(`${at}`, width));
  const steps = widths.slice(1).map((_, at) => [at, at + 1] as const);
  const led = [...steps, ...leaps.filter(([from, to]) => from + 1 < to)];
  const edges = led.map(([from, to]) => edge(`${from}`, `${to}`));
  return place({ subject: { nodes, groups: [], edges }, open: [] }, layOutSimply);
}

const chains = fc
  .array(fc.integer({ min: 90, max: 260 }), { minLength: 2, maxLength: 300 })
  .chain((widths) => {
    const at = fc.integer({ min: 0, max: widths.length - 1 });
    return fc.array(fc.tuple(at, at), { maxLength: 6 }).map((leaps) => chainOf(widths, leaps));
  });

describe("a chain in rows", () => {
  it("is as long as it is high, more or less, keeps every box whole and apart, and leads edges round them", () => {
    fc.assert(
      fc.property(chains, (rows) => {
        if (isWide(rows)) expect(rows.width / rows.height).toBeLessThan(6.5);
        const boxes = [...rows.nodes.values()];
        for (const [index, box] of boxes.entries()) {
          expect(box.x).toBeGreaterThanOrEqual(0);
          expect(box.x + box.width).toBeLessThanOrEqual(rows.width);
          expect(box.y + box.height).toBeLessThanOrEqual(rows.height);
          expect(boxes.slice(index + 1).some((other) => boxesOverlap(box, other))).toBe(false);
        }
        for (const [id, curve] of rows.edges) {
          const [from, to] = id.split("-").map((index) => rows.nodes.get(index));
          if (from === undefined || to === undefined) throw new Error(id);
          expect(curve[0]?.x).toBeCloseTo(from.x + from.width);
          expect(curve.at(-1)?.x).toBeCloseTo(to.x);
          expect(curve.length % 3).toBe(1);
          // A leap over others was drawn through them here before it was led into rows.
          if (boxes.indexOf(to) - boxes.indexOf(from) > 1) continue;
          for (let share = 0.02; share < 1; share += 0.02) {
            const { x, y } = pointAt(curve, share) ?? { x: Number.NaN, y: Number.NaN };
            const dot = { x, y, width: 0, height: 0 };
            expect(boxes.filter((box) => boxesOverlap(dot, box))).toEqual([]);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it("keeps its rows when a group opens", () => {
    const ids = Array.from({ length: 24 }, (_, at) => `${at}`);
    const subject = {
      nodes: [...ids.filter((id) => id !== "5").map((id) => item(id, 150)), item("inner", 900, "5")],
      groups: [{ ...item("5", 150), isFold: false }],
      edges: ids.slice(1).map((id, at) => edge(at === 5 ? "inner" : `${at}`, id === "5" ? "inner" : id)),
    };
    const rowsWith = (open: readonly string[]): readonly number[] => {
      const { nodes } = place({ subject, open }, layOutSimply);
      const tops = ids.flatMap((id) => nodes.get(id)?.y ?? []);
      return tops.map((top) => [...new Set(tops)].indexOf(top));
    };
    expect(rowsWith(["5"])).toEqual(rowsWith([]));
    expect(new Set(rowsWith([])).size).toBeGreaterThan(1);
  });
});
