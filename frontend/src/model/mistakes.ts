/**
 * What one gets for a gradient by the usual slips: the moves that the step has for it, with one of them done wrong. A
 * slip changes a table or which cells meet; nothing here knows an operation.
 */
import { code, fact, numbers } from "../protocol/facts";
import type {
  Contribution,
  Fact,
  Filling,
  Graph,
  Move,
  MoveSource,
  Node,
  Operand,
  Step,
  TensorValue,
} from "../protocol/trace.gen";
import { isTensor } from "./gradients";
import { edgesById, nodesById, producerOf } from "./graph";
import { elementCount, jacobianMatrix } from "./matrix";
import { type Meeting, meetingsOf, namedValue } from "./meetings";
import { numbersOf } from "./numbers";
import { nodeTitle, variableOf } from "./selectors";

type Numbers = readonly number[];

/** A wrong answer that has a reason. */
export interface Mistake {
  readonly values: Numbers;
  readonly because: Fact;
}

/** A move in numbers. */
export interface Line {
  readonly move: Move;
  readonly tables: readonly Numbers[];
  /** Of the tables, and of the result. */
  readonly shapes: readonly (readonly number[])[];
  readonly meetings: readonly Meeting[];
  readonly joins: (a: number, b: number) => number;
}

/** The operand of a step whose gradient is looked at. */
interface Returned {
  readonly graph: Graph;
  readonly step: Step;
  readonly node: Node;
  readonly argnum: number;
}

/** Numbers are right to this share, so that what was rounded to be typed still counts. */
const TOLERANCE = 5e-3;
const ROUNDING = 1e-6;
/** A sum of more products is no mental arithmetic. */
export const MOST_TERMS = 6;
/** Cells of v times cells of the result: larger ones nobody follows. */
const MOST_MEETINGS = 2 ** 15;

/** The moves of the step, else v times J as one; null where numbers are missing. */
export function linesOf({ step, node, argnum }: Returned, returned: TensorValue): readonly Line[] | null {
  const moves = step.moves?.find((one) => one.argnum === argnum)?.moves;
  if (moves === undefined) return byJacobian(step, argnum, returned);
  const made = moves.map(({ value }) => value ?? returned);
  const lines = moves.map((move, at) => {
    const values = move.of.map((source) => sourceOf(source, step, node, made));
    return values.every(isTensor) ? lineOf(move, values, made[at] ?? returned) : null;
  });
  return lines.every((line) => line !== null) ? lines : null;
}

function sourceOf(
  { grad_output, move, value, operand }: MoveSource,
  step: Step,
  node: Node,
  made: readonly TensorValue[],
) {
  if (grad_output !== undefined) return step.grad_outputs[grad_output];
  return move === undefined ? (value ?? namedValue(node, operand)) : made[move];
}

function lineOf(move: Move, values: readonly TensorValue[], value: TensorValue): Line | null {
  const tables = values.map(numbersOf);
  const cells = elementCount(value.shape);
  if (!tables.every((table) => table !== null)) return null;
  if (tables.some((table) => table.length * cells > MOST_MEETINGS)) return null;
  const shapes = [
    ...move.of.map(({ shape }, at) => shape ?? values[at]?.shape ?? []),
    move.shape ?? value.shape,
  ];
  const joins = move.verb === "subtract" ? (a: number, b: number) => a - b : (a: number, b: number) => a * b;
  return { move, tables, shapes, meetings: meetingsOf(move, shapes), joins };
}

/** All that arrived at the outputs as one row, or a row for each of many v's, times their Jacobians one below the other. */
function byJacobian(step: Step, argnum: number, returned: TensorValue): readonly Line[] | null {
  const arrived = step.local_jacobians.flatMap((jacobian) => {
    const v = step.grad_outputs[jacobian.output_nr];
    return jacobian.argnum === argnum && isTensor(v)
      ? [{ v, jacobian, matrix: jacobianMatrix(jacobian) }]
      : [];
  });
  const [first] = arrived;
  const data = arrived.flatMap(({ v }) => v.data ?? []);
  const cells = arrived.flatMap(({ matrix }) => matrix?.cells ?? []);
  const columns = first?.matrix?.columns ?? 0;
  const rows = cells.length / columns;
  const count = data.length / rows;
  const isWhole = count === 1 || (arrived.length === 1 && Number.isInteger(count));
  if (first === undefined || !isWhole || count * columns !== elementCount(returned.shape)) return null;
  const batch = count === 1 ? [] : [count];
  const move: Move = {
    verb: "meet",
    of: [{ grad_output: first.jacobian.output_nr }, { text: "J" }],
    axes: count === 1 ? "k,kj->j" : "bk,kj->bj",
    shape: [...batch, columns],
  };
  const v: TensorValue = { ...first.v, shape: [...batch, rows], data };
  const line = lineOf(move, [v, { ...v, shape: [rows, columns], data: cells }], returned);
  if (line === null) return null;
  const isSeen = ({ second }: Meeting): boolean => line.tables[1]?.[second ?? 0] !== 0;
  return [{ ...line, meetings: line.meetings.filter(isSeen) }];
}

/** What the lines make, each from its tables and from what those before it have made. */
function madeBy(lines: readonly Line[]): Numbers {
  const made: Numbers[] = [];
  for (const { move, tables, shapes, meetings, joins } of lines) {
    const [first = [], second] = tables.map((table, at) => made[move.of[at]?.move ?? -1] ?? table);
    const cells = Array.from({ length: elementCount(shapes.at(-1) ?? []) }, () => 0);
    const sizes = cells.slice();
    for (const { result, first: from, second: beside } of meetings) {
      const a = first[from] ?? Number.NaN;
      const product = beside === null || second === undefined ? a : joins(a, second[beside] ?? Number.NaN);
      cells[result] = (cells[result] ?? 0) + product;
      sizes[result] = (sizes[result] ?? 0) + Math.abs(product);
    }
    // What is left by rounding is 0.
    made.push(cells.map((cell, at) => (Math.abs(cell) < ROUNDING * (sizes[at] ?? 0) ? 0 : cell)));
  }
  return made.at(-1) ?? [];
}

/** The cells of the result of which each is a sum of few numbers. */
export function cellsInReach(lines: readonly Line[]): readonly number[] {
  const counts = lines.map((line) => byCell(line).map(({ length }) => length));
  const last = counts.pop() ?? [];
  const before = counts.reduce((sum, each) => sum + Math.max(...each), 0);
  return last.flatMap((count, cell) => (count + before <= MOST_TERMS ? [cell] : []));
}

function byCell({ meetings, shapes }: Line): readonly (readonly Meeting[])[] {
  const cells = Array.from({ length: elementCount(shapes.at(-1) ?? []) }, (): Meeting[] => []);
  for (const meeting of meetings) cells[meeting.result]?.push(meeting);
  return cells;
}

/** Whether anything is multiplied with v, rather than v sent to its places. */
export function isMultiplied(lines: readonly Line[]): boolean {
  return lines.some(({ tables }) => tables.length > 1);
}

/** Whether each cell of the result is made of the cell of v at the same place. */
export function isCellByCell(lines: readonly Line[]): boolean {
  const [line] = lines;
  return lines.length === 1 && line?.meetings.every(({ result, first }) => result === first) === true;
}

/** The mistakes for all cells of a gradient, the most telling first. */
export function mistakesOf(of: Returned, lines: readonly Line[], answer: Numbers): readonly Mistake[] {
  const { graph, step, node, argnum } = of;
  const mistakes: Mistake[] = [];
  const add = (because: Fact, values: Numbers) => mistakes.push({ because, values });
  const addWith = (because: Fact, v: (own: Numbers, output: number) => Numbers) => {
    const changed = lines.map((line) => ({
      ...line,
      tables: line.tables.map((table, at) => {
        const output = line.move.of[at]?.grad_output;
        return output === undefined ? table : v(table, output);
      }),
    }));
    add(because, madeBy(changed));
  };
  for (const { output_nr, value } of step.contributions) {
    const part = numbersOf(value);
    addWith(fact("ask-forgot-sum"), (own, output) =>
      output === output_nr && part?.length === own.length ? part : own,
    );
  }
  addWith(fact("ask-forgot-v"), (own) => own.map(() => 1));
  for (const [at, line] of lines.entries())
    for (const { because, change } of slipsOf(line, of, lines))
      add(because, madeBy(lines.with(at, { ...line, ...change })));
  const [v = []] = lines[0]?.tables ?? [];
  if (v.length === answer.length || isMultiplied(lines))
    for (let row = 0; row < v.length && Math.max(v.length, answer.length) <= MOST_TERMS; row += 1)
      addWith(fact("ask-forgot-v-row"), (own) => own.map((_, each) => (each === row ? 1 : 0)));
  add(
    fact("ask-wrong-sign"),
    answer.map((value) => -value),
  );
  const own = step.grad_inputs[argnum];
  for (const operand of node.inputs) {
    const other = step.grad_inputs[operand.argnum];
    if (operand.argnum === argnum || !isTensor(own) || !isTensor(other)) continue;
    if (String(own.shape) === String(other.shape))
      add(fact("ask-other-operand", { name: calledIn(graph, operand) }), numbersOf(other) ?? []);
  }
  add(fact("ask-only-v"), v);
  return mistakes.filter(({ values }) => values.length === answer.length);
}

/** Those made where several contributions meet. */
export function mistakesInSum(graph: Graph, contributions: readonly Contribution[]): readonly Mistake[] {
  const parts = contributions.map(({ value }) => numbersOf(value) ?? []);
  return [
    ...contributions.map(({ edge }, at) => ({
      values: parts[at] ?? [],
      because: fact("ask-only-one-use", { sender: senderOf(graph, edge) }),
    })),
    { values: joined(parts, (a, b) => a * b), because: fact("ask-sum-not-product") },
    {
      values: joined(parts, (a, b) => a + b).map((sum) => sum / parts.length),
      because: fact("ask-sum-not-mean"),
    },
    { values: joined(parts, (a, b) => a - b), because: fact("ask-sum-own-signs") },
  ];
}

/** Several tables of as many numbers, cell by cell. */
export function joined(parts: readonly Numbers[], join: (a: number, b: number) => number): Numbers {
  return parts.reduce((sum, part) => sum.map((value, cell) => join(value, part[cell] ?? Number.NaN)));
}

function senderOf(graph: Graph, edge: string): Filling {
  if (edge === "seed") return fact("player-external-gradient");
  const node = nodesById(graph).get(edgesById(graph).get(edge)?.to.node ?? "");
  return node === undefined ? fact("ask-one-use") : nodeTitle(node);
}

/** What is changed in a line. */
interface Slip {
  readonly because: Fact;
  readonly change: Partial<Line>;
}

function slipsOf(line: Line, of: Returned, lines: readonly Line[]): readonly Slip[] {
  const { move, tables, shapes, meetings } = line;
  const [first = [], second] = tables;
  const cells = byCell(line);
  const most = Math.max(0, ...cells.map(({ length }) => length));
  const slips: Slip[] = [];
  const add = (because: Fact, change: Partial<Line>) => slips.push({ because, change });
  for (let term = 0; most > 1 && term < Math.min(most, MOST_TERMS); term += 1)
    add(fact("ask-forgot-copies"), { meetings: cells.flatMap((each) => each[term] ?? each.at(-1) ?? []) });
  if (second === undefined) {
    if (most > 1) return slips;
    for (const [step, from] of [
      [1, "first"],
      [-1, "first"],
      [0, "result"],
    ] as const)
      add(fact("ask-other-cell"), {
        meetings: meetings.map((one) => ({
          ...one,
          first: (one[from] + first.length + step) % first.length,
        })),
      });
    const share = shareIn(line, of.node);
    const because = fact(move.verb === "win" ? "ask-averaged" : "ask-divided");
    if (share !== null) add(because, { tables: [first.map((one) => one * share)] });
    return slips;
  }
  const alone = { meetings: meetings.map((one) => ({ ...one, second: null })) };
  const name = nameOf(move.of[1], of, lines);
  if (move.verb === "subtract") return [{ because: fact("ask-forgot-subtracted", { name }), change: alone }];
  if (move.verb === "meet") slips.push(...[0, 1, 2].flatMap((at) => transposed(line, at, of, lines)));
  const isNumber = second.length === 1 && move.of[1]?.value !== undefined;
  const isEach = most === 1 && move.of[0]?.move === undefined;
  if (isEach && !isNumber) add(fact("ask-only-v"), alone);
  else add(fact("ask-forgot-factor", { factor: isNumber ? numbers(second) : name }), alone);
  if (!isEach || lines.length > 1) return slips;
  for (const [value, called] of forwardValues(of))
    if (String(value.shape) === String(shapes[1]) || Math.max(second.length, elementCount(value.shape)) === 1)
      add(fact("ask-forward-value", { name: called }), { tables: [first, numbersOf(value) ?? []] });
  add(fact("ask-added"), { joins: (a, b) => a + b });
  return slips;
}

/** Of v, if it were shared out evenly among the places that it can go to; null where it is not sent out. */
function shareIn({ move, tables, shapes }: Line, { saved }: Node): number | null {
  if (move.verb !== "deal" && move.verb !== "win") return null;
  const window = saved.find(({ name }) => name === "kernel_size")?.option;
  if (Array.isArray(window)) return 1 / elementCount(window.map(Number));
  return (tables[0]?.length ?? 0) / elementCount(shapes.at(-1) ?? []);
}

/** With the rows of a table, or of the result, read as its columns, where its shape lets one get away with it. */
function transposed(
  { move, shapes }: Line,
  at: number,
  of: Returned,
  lines: readonly Line[],
): readonly Slip[] {
  const letters = move.axes?.split(/,|->/) ?? [];
  const [own = "", result = ""] = [letters[at], letters.at(-1)];
  const [rows = 0, columns] = shapes[at]?.slice(-2) ?? [];
  if (own.includes("(") || own.length < 2 || rows < 2 || rows !== columns) return [];
  const [x = "", y = ""] = own.slice(-2);
  const [left, right, made] = letters.with(at, own.slice(0, -2) + y + x);
  const change = { meetings: meetingsOf({ ...move, axes: `${left},${right}->${made}` }, shapes) };
  if (at === 2) return [{ because: fact("ask-shape-transposed"), change }];
  const name = nameOf(move.of[at], of, lines);
  const other = letters[1 - at] ?? "";
  const isMet = (letter: string): boolean => other.includes(letter) && !result.includes(letter);
  const isTurned = (isMet(y) && result.at(-1) === x) || (isMet(x) && result.at(-1) !== y);
  const kind =
    other.length === 1
      ? "ask-forgot-transpose"
      : isTurned
        ? "ask-forgot-transpose-factor"
        : "ask-row-for-column";
  return [{ because: fact(kind, { name }), change }];
}

/** What could be taken for the local derivative. */
function forwardValues({ graph, node }: Returned): readonly (readonly [TensorValue, Fact])[] {
  return [
    ...node.inputs.map((operand) => [operand.value, calledIn(graph, operand)] as const),
    [node.outputs[0]?.value ?? null, resultOf(node)] as const,
  ].flatMap(([value, name]) => (value === null || numbersOf(value) === null ? [] : [[value, name] as const]));
}

function resultOf({ outputs: [output], label }: Node): Fact {
  return output?.name == null ? fact("result-of", { op: code(label) }) : code(output.name);
}

function nameOf(source: MoveSource | undefined, { graph, node }: Returned, lines: readonly Line[]): Fact {
  if (source?.grad_output !== undefined) return code("v");
  const operand = node.inputs.find(({ name }) => name === source?.operand);
  if (operand !== undefined) return calledIn(graph, operand);
  if (source?.operand === "result") return resultOf(node);
  return code(source?.text ?? source?.operand ?? lines[source?.move ?? -1]?.move.text ?? "");
}

/** The variable, else the program's own text, else what made it: never a name of torch's own. */
export function calledIn(graph: Graph, operand: Operand): Fact {
  const name = variableOf(graph, operand) ?? operand.source;
  if (name !== undefined) return code(name);
  const op = nodesById(graph).get(producerOf(graph, operand)?.node ?? "")?.label;
  return op === undefined ? code(operand.name) : fact("result-of", { op: code(op) });
}

export function pick(values: Numbers, cells: readonly number[]): Numbers {
  return cells.map((cell) => values[cell] ?? Number.NaN);
}

/** The mistakes without those that cannot be told from the answer or from one before. */
export function toldApart(
  answer: Numbers,
  isSame: (a: Numbers, b: Numbers) => boolean,
  mistakes: readonly Mistake[],
): readonly Mistake[] {
  const told: Mistake[] = [];
  for (const mistake of mistakes)
    if (mistake.values.every(Number.isFinite) && !isSame(answer, mistake.values))
      if (!told.some(({ values }) => isSame(values, mistake.values))) told.push(mistake);
  return told;
}

/** To a share of each number, or of a thousandth of the largest where one is next to nothing beside it. */
export function agree(a: Numbers, b: Numbers, tolerance = TOLERANCE): boolean {
  const scale = Math.max(0, ...a.filter(Number.isFinite).map(Math.abs)) / 1000;
  const isClose = (one: number, other = Number.NaN): boolean =>
    Object.is(one, other) ||
    one === other ||
    Math.abs(one - other) <= tolerance * Math.max(Math.abs(one), Math.abs(other), scale);
  return a.length === b.length && a.every((one, at) => isClose(one, b[at]));
}
