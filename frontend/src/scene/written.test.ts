import { describe, expect, it } from "vitest";
import { isTensor } from "../model/gradients";
import { formatNumber } from "../model/numbers";
import { START } from "../model/position";
import { sampleTrace, walkFrom } from "../model/samples";
import { SAMPLES } from "../protocol/samples";
import type { Gradient } from "../protocol/trace.gen";
import { cellCentre, tableBlock } from "./blocks";
import { type CalloutScene, drawCallout } from "./equation";
import { oneLine } from "./oneline";
import { productForms } from "./product";
import type { View } from "./views";
import { type Equation, lineOf, writtenAccumulation, writtenProduct, writtenSummands } from "./written";

const DIGITS = 4;
const SIZE = 20;
const BEFORE = [0, 0.05, 0.5, 0.95];
const LOOK = { precision: DIGITS, pointed: null, isAlone: false, jacobian: null } as const;
const LETTERS = { size: SIZE, face: "mono" } as const;

/** Every table of a line, with its cells as they are read at a moment. */
function tablesOf(equation: Equation) {
  return lineOf(equation, SIZE, Number.POSITIVE_INFINITY).blocks.flatMap(({ block: { table } }) => {
    if (table === null) return [];
    const cells = table.cells.flat().map(({ text }) => text);
    return [{ name: table.name, side: table.side, cells, isWritten: !cells.includes("·") }];
  });
}

const resultOf = (equation: Equation) => tablesOf(equation).findLast(({ side }) => side === "result")?.cells;

function numbersOf(gradient: Gradient): readonly string[] {
  return isTensor(gradient) ? (gradient.data ?? []).map((cell) => formatNumber(cell, DIGITS)) : [];
}

interface Motion {
  readonly view: View | null;
  readonly at: (progress: number) => Equation;
  readonly end: Gradient;
}

/** What comes about in the motion into a stop, at each progress of it, and what it is in the end. */
function motions(callout: CalloutScene): readonly Motion[] {
  if (callout.kind === "accumulate" && callout.shown.landed)
    return [
      { view: null, at: (progress) => writtenAccumulation(callout, progress, DIGITS), end: callout.after },
    ];
  if (callout.kind !== "vjp" || !callout.shown.entering) return [];
  const { shown, node, saved } = callout;
  return callout.operands.flatMap((operand) => {
    const forms = operand.factors.slice(0, 1).flatMap((factor) => productForms(node, operand, factor, saved));
    return forms.map((form) => ({
      view: form.view,
      at: (progress: number) => writtenProduct(form, { ...LOOK, shown, progress }),
      end: operand.returned,
    }));
  });
}

/** How scores = queries @ keys.T, in the example "attention", sends v on, in one of the ways to read it. */
function motionOf(view: View): (progress: number) => Equation {
  const position = { direction: "backward", step: 3, phase: "multiply" } as const;
  const callout = drawCallout(sampleTrace("attention"), position);
  const motion = callout && motions(callout).find((each) => each.view === view);
  if (!motion) throw new Error("the example has changed");
  return motion.at;
}

it("makes tables and captions narrower where that saves a row", () => {
  // v and J of three columns each, as wide as a phone; what is returned has a row of its own and all its width.
  const equation = motionOf("matrices")(1);
  const widthsAt = (width: number) =>
    lineOf(equation, 12, width).blocks.flatMap(({ block, at }) =>
      block.table === null ? [] : [{ width: block.width, middle: at.y + block.middle }],
    );
  const [v, J, result] = widthsAt(374);
  expect(v?.middle).toBe(J?.middle);
  expect(result?.middle).toBeGreaterThan(v?.middle ?? 0);
  const [wide] = widthsAt(1000);
  expect(v?.width).toBeLessThan(wide?.width ?? 0);
  expect(widthsAt(1000)[2]?.width).toBe(result?.width);
});

describe.each(SAMPLES)("%s", (name) => {
  const trace = sampleTrace(name);
  const callouts = walkFrom(trace, START).flatMap((position) => drawCallout(trace, position) ?? []);

  it("writes an entry of a result once what makes it has come, and never takes it back", () => {
    for (const { at, end } of callouts.flatMap(motions)) {
      const expected = numbersOf(end);
      const last = resultOf(at(1));
      if (last === undefined) continue;
      expect(last).toEqual(expected.slice(0, last.length));
      expect(resultOf(at(0))?.every((text) => text === "·")).toBe(true);
      let written = 0;
      for (const progress of BEFORE) {
        const cells = resultOf(at(progress)) ?? [];
        for (const [index, text] of cells.entries()) expect(["·", expected[index]]).toContain(text);
        const now = cells.filter((text) => text !== "·").length;
        expect(now).toBeGreaterThanOrEqual(written);
        written = now;
      }
    }
  });

  it("tells a sum when its contributions have met", () => {
    for (const callout of callouts) {
      if (callout.kind === "forward" || !callout.shown.summing) continue;
      const sum = callout.kind === "vjp" ? callout.sum : callout.arrived;
      const told = (progress: number): string | undefined => {
        const look = { letters: LETTERS, precision: DIGITS, width: 800, hasBars: false, progress };
        const line = writtenSummands({ summands: callout.summands, sum, caption: "sum" }, look);
        return line?.blocks.map(({ block }) => block.above).find((above) => above.endsWith(" sum"));
      };
      for (const progress of BEFORE) expect(told(progress)).toBe("· sum");
      expect(told(1)).toBe(`${oneLine(sum, DIGITS).text} sum`);
    }
  });
});

it("hands what a line makes to the next one when all of it is there", () => {
  const equationAt = motionOf("elements");
  let handed = 0;
  for (const progress of [0, 0.2, 0.3, 0.4, 0.6, 0.7, 0.9, 1]) {
    const tables = tablesOf(equationAt(progress));
    const results = tables.filter(({ side }) => side === "result");
    expect(results).toHaveLength(3);
    for (const { name, isWritten } of results) {
      const used = tables.filter((table) => table.name === name && table.side !== "result");
      for (const table of used) expect(table.isWritten).toBe(isWritten);
      if (isWritten) handed += used.length;
    }
    for (const [line, { isWritten }] of results.entries()) expect(isWritten).toBe(3 * progress >= line + 1);
  }
  expect(handed).toBeGreaterThan(5);
});

it("draws a part of a table that has no room, and the cell at work in it", () => {
  const [rows, columns, most] = [9, 5, 4];
  const matrix = { rows, columns, cells: Array.from({ length: rows * columns }, (_, index) => index) };
  for (const index of matrix.cells) {
    const near = { row: Math.floor(index / columns), column: index % columns };
    const look = { caption: "", shape: "", size: SIZE, precision: DIGITS, most, near };
    const { table, width, height } = tableBlock(matrix, look);
    if (table === null) throw new Error("a matrix is a table");
    expect(table.cells.map((row) => row.length)).toEqual(Array.from({ length: most }, () => most));
    const { row, column } = table.first;
    expect(table.cells[near.row - row]?.[near.column - column]?.text).toBe(String(index));
    const centre = cellCentre(table, near);
    expect(centre !== null && centre.x < width && centre.y < height).toBe(true);
  }
});
