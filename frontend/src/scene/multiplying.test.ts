/** The motion of every product of real traces, told against the products themselves. */
import { describe, expect, it } from "vitest";
import { readAsCalls } from "../model/calls";
import { isTensor } from "../model/gradients";
import { toNumber } from "../model/numbers";
import { sampleTrace } from "../model/samples";
import type { TraceState } from "../model/trace";
import { TRACES } from "../protocol/samples";
import { drawCallout } from "./equation";
import { type Factoring, type Place, type ProductForm, placeOf, type Rule, samePlace } from "./form";
import { movedForm } from "./moves";
import { multiplyingAt, type Spot } from "./multiplying";
import { productForms } from "./product";

interface Shown {
  readonly where: string;
  readonly form: ProductForm;
}

/** As it is recorded, and with every call that is one operation read as such. */
function formsOf(name: string): readonly Shown[] {
  const trace = sampleTrace(name);
  const read = readAsCalls(trace, () => false);
  return [...formsIn(trace, name), ...(read === trace ? [] : formsIn(read, `${name} as calls`))];
}

/** The operands of each step that is a product. */
function operandsIn(trace: TraceState) {
  return trace.steps.flatMap((_, at) => {
    const callout = drawCallout(trace, { direction: "backward", step: at + 1, phase: "multiply" });
    if (callout?.kind !== "vjp") return [];
    return callout.operands.map((operand) => ({ ...callout, operand, where: `${at + 1} ${operand.name}` }));
  });
}

function formsIn(trace: TraceState, name: string): readonly Shown[] {
  return operandsIn(trace).flatMap(({ node, operand, saved, where }) =>
    operand.factors.flatMap((factor) =>
      productForms(node, operand, factor, saved).flatMap((form) =>
        [form, ...(form.before ?? [])].map((line) => ({
          where: `${name} ${where} ${form.view}`,
          form: line,
        })),
      ),
    ),
  );
}

const ALL = TRACES.flatMap(formsOf);

function places({ result: { matrix } }: ProductForm): readonly Place[] {
  return matrix.cells.map((_, index) => placeOf(matrix, index));
}

it("knows every way in which entries come about", () => {
  const rules = new Set<Rule>(ALL.map(({ form }) => form.rule));
  expect(rules).toEqual(new Set(["terms", "entries", "dealt", "folded", "moved"]));
  expect(new Set(ALL.map(({ form }) => form.view))).toEqual(new Set(["elements", "matrices", "jacobian"]));
});

it.each(TRACES)("lays out every list of moves that %s has", (name) => {
  for (const { node, operand, saved, where } of operandsIn(sampleTrace(name))) {
    const { moves, returned } = operand;
    if (moves.length === 0 || !isTensor(returned)) continue;
    const form = movedForm(node, operand, saved, returned);
    expect(form === null ? 0 : 1 + (form.before?.length ?? 0), where).toBe(moves.length);
  }
});

describe.each(TRACES)("each product of %s", (name) => {
  const forms = formsOf(name);

  it("has nothing of the result at 0.1, writes an entry when its products are in, and keeps it", () => {
    for (const { form } of forms) {
      let before: readonly Place[] = [];
      for (let hundredth = 0; hundredth <= 100; hundredth += 1) {
        const { flights, landed, isWritten, current } = multiplyingAt(form, hundredth / 100);
        const written = places(form).filter(isWritten);
        expect(written).toEqual(expect.arrayContaining([...before]));
        for (const { to } of flights) expect(to.table === "result" && isWritten(to.place)).toBe(false);
        if (hundredth <= 10) expect([written, flights, landed]).toEqual([[], [], 0]);
        if (hundredth === 100) expect([written, flights]).toEqual([places(form), []]);
        if (hundredth === 100) expect(landed).toBeGreaterThanOrEqual(form.termsAt(current).length);
        before = written;
      }
    }
  });

  it("writes out products whose sums are what the engine returned, or says that they are not", () => {
    for (const { where, form } of forms) {
      const errors = form.result.matrix.cells.map((cell, index) => {
        const terms = form.termsAt(placeOf(form.result.matrix, index));
        const products = terms.map(({ a, b }) => toNumber(a) * toNumber(b));
        const size = products.reduce((sum, each) => sum + Math.abs(each), 1e-6);
        return Math.abs(products.reduce((sum, each) => sum + each, 0) - toNumber(cell)) / size;
      });
      expect(Math.max(...errors) < 1e-3, where).toBe(form.isTrue);
    }
  });

  it("moves what the products say, from where to where they say, at 0.5", () => {
    for (const { form } of forms) {
      const { current, flights } = multiplyingAt(form, 0.5);
      const right = form.rightAt(current);
      for (const { from, to, share, value } of flights) {
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThan(1);
        const isIn = ({ table, place }: Spot): boolean => {
          const matrix = table === "right" ? right?.matrix : form[table].matrix;
          return matrix !== undefined && place.row < matrix.rows && place.column < matrix.columns;
        };
        expect([isIn(from), isIn(to)]).toEqual([true, true]);
        const into = to.table === "result" ? [to.place] : places(form);
        const products = into.flatMap((place) => form.termsAt(place));
        const fitting = products.filter((term) => {
          const place = from.table === "result" ? null : term[from.table];
          return place !== null && samePlace(place, from.place);
        });
        const values = fitting.map(({ left, a, b }) =>
          to.table === "result" && left !== null ? toNumber(a) * toNumber(b) : toNumber(a),
        );
        expect(values).toContain(toNumber(value));
      }
    }
  });
});

/** Sizes that go with one another, the last ones beside each other; null where some do not. */
function broadcast(shapes: readonly (readonly number[])[]): readonly number[] | null {
  const rank = Math.max(...shapes.map(({ length }) => length));
  const sizes = Array.from({ length: rank }, (_, at) => {
    const found = new Set(
      shapes.map((shape) => shape[shape.length - rank + at] ?? 1).filter((size) => size !== 1),
    );
    return found.size > 1 ? null : ([...found][0] ?? 1);
  });
  return sizes.every((size) => size !== null) ? sizes : null;
}

it("has no sign between tables that is not one of their shapes, and v as rows, times outputs by inputs", () => {
  const seen = new Set<string>();
  for (const { where, form } of ALL) {
    const table = form.rightAt({ row: 0, column: 0 });
    if (table === null || form.operator === "∗") continue;
    const sizesOf = ({ shape }: Factoring): readonly number[] => shape.map(({ size }) => size);
    const areRows = form.operator === "×" && form.view !== "elements" && form.rule === "terms";
    for (const right of areRows ? places(form).map(form.rightAt) : [])
      expect(right && sizesOf(right).slice(-2), where).toEqual([
        form.left.matrix.columns,
        form.result.matrix.columns,
      ]);
    if (areRows && form.view === "jacobian") expect(form.left.role, where).toBe("v");
    const [left, right, result] = [sizesOf(form.left), sizesOf(table), sizesOf(form.result)];
    seen.add(form.operator);
    // Behind the number an arrow leads to the result.
    const isPlaced = form.rule !== "terms" && form.rule !== "entries";
    const areMatrices = form.operator === "×" && left.at(-1) === right.at(-2);
    const isNumber = [left, right].some((shape) => shape.every((size) => size === 1));
    if (form.operator === "×") expect(areMatrices || isNumber, where).toBe(true);
    // All entries of both make up one number; rows of a batch meet one at a time.
    if (form.operator === "·")
      expect([right, result.every((size) => size === 1)], where).toEqual([left, true]);
    else if (!areMatrices && !isPlaced) expect(broadcast([left, right]), where).toEqual(result);
  }
  expect(seen).toEqual(new Set(["×", "⊙", "·", "−"]));
});
