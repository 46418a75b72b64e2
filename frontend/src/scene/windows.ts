/**
 * Convolution in the tensors' own shapes: the gradient of an entry of the kernel is a sum over the places of the window,
 * that of an entry of the input a sum over the windows that it was in. Each pair of an entry of v and one of the other
 * operand is found from where the window stands.
 */
import { elementCount, type Matrix, matrixOf } from "../model/matrix";
import type { Node, TensorValue } from "../protocol/trace.gen";
import { label } from "../words/say";
import type { OperandEquation } from "./equation";
import type { Factoring, Place, ProductForm, Term } from "./form";
import { MOST_SHOWN, placeOf, reproduces, returnedFor, samePlace, sizes, V_CAPTION } from "./form";

/** What an entry of the output is made of: it, an entry of the input and one of the kernel, as flat indices. */
interface Meeting {
  readonly output: number;
  readonly input: number;
  readonly kernel: number;
}

interface Setting {
  readonly stride: readonly number[];
  readonly padding: readonly number[];
  readonly dilation: readonly number[];
}

const INPUT = 0;
const KERNEL = 1;
const MOST_MEETINGS = 20_000;

export function slidingWindow(
  node: Node,
  operand: OperandEquation,
  v: TensorValue,
  returned: TensorValue,
): ProductForm | null {
  if (node.name !== "ConvolutionBackward0" || ![INPUT, KERNEL].includes(operand.argnum)) return null;
  const setting = settingOf(node);
  const image = node.inputs.find(({ argnum }) => argnum === INPUT)?.value ?? null;
  const kernel = node.inputs.find(({ argnum }) => argnum === KERNEL)?.value ?? null;
  if (setting === null || image === null || kernel === null) return null;
  const other = operand.argnum === INPUT ? kernel : image;
  const [left, beside, result] = [matrixOf(v), matrixOf(other), matrixOf(returned)];
  if (left === null || beside === null || result === null) return null;
  if ([left, beside, result].some(({ rows, columns }) => Math.max(rows, columns) > MOST_SHOWN)) return null;
  const meetings = meetingsOf(v.shape, image.shape, kernel.shape, setting);
  if (meetings === null) return null;
  const terms = termsOf(meetings, operand.argnum === INPUT, left, beside, result);
  const termsAt = ({ row, column }: Place): readonly Term[] => terms[row * result.columns + column] ?? [];
  if (!reproduces(result, termsAt)) return null;
  const right: Factoring = {
    role: "jacobian",
    caption: label("player-acts-as-j", {
      factor: operand.names.get(operand.argnum === INPUT ? KERNEL : INPUT) ?? "",
    }),
    matrix: beside,
    shape: sizes(other.shape),
    flattenedFrom: null,
  };
  return {
    view: "matrices",
    rule: "terms",
    operator: "∗",
    isTrue: true,
    left: { role: "v", caption: V_CAPTION, matrix: left, shape: sizes(v.shape), flattenedFrom: null },
    result: {
      role: "result",
      caption: returnedFor(operand),
      matrix: result,
      shape: sizes(returned.shape),
      flattenedFrom: null,
    },
    rightAt: () => right,
    termsAt,
    resultOf: (side, place, current) => {
      const at = terms.findIndex((each) => each.some((term) => isAt(term[side], place)));
      return at < 0 ? current : placeOf(result, at);
    },
  };
}

function isAt(a: Place | null, b: Place): boolean {
  return a !== null && samePlace(a, b);
}

/** By entry of the result. */
function termsOf(
  meetings: readonly Meeting[],
  isForInput: boolean,
  left: Matrix,
  beside: Matrix,
  result: Matrix,
): readonly (readonly Term[])[] {
  const terms = result.cells.map((): Term[] => []);
  for (const { output, input, kernel } of meetings) {
    const [into, from] = isForInput ? [input, kernel] : [kernel, input];
    terms[into]?.push({
      left: placeOf(left, output),
      right: placeOf(beside, from),
      a: left.cells[output] ?? 0,
      b: beside.cells[from] ?? 0,
    });
  }
  return terms;
}

/** Null for what is not a plain convolution: transposed, or in groups. */
function settingOf({ saved }: Node): Setting | null {
  const options = new Map(saved.map(({ name, option }) => [name, option]));
  const [stride, padding, dilation] = ["stride", "padding", "dilation"].map((name) => {
    const option = options.get(name);
    return Array.isArray(option) ? option.filter((each) => typeof each === "number") : null;
  });
  if (stride == null || padding == null || dilation == null) return null;
  return options.get("transposed") === false && options.get("groups") === 1
    ? { stride, padding, dilation }
    : null;
}

/** Null where there are too many places. */
function meetingsOf(
  out: readonly number[],
  image: readonly number[],
  kernel: readonly number[],
  { stride, padding, dilation }: Setting,
): readonly Meeting[] | null {
  if (out.length !== image.length || kernel.length !== image.length) return null;
  const [channels = 1, ...window] = kernel.slice(1);
  if (elementCount(out) * channels * elementCount(window) > MOST_MEETINGS) return null;
  const meetings: Meeting[] = [];
  for (let output = 0; output < elementCount(out); output += 1) {
    const [sample = 0, feature = 0, ...corner] = placed(output, out);
    for (let tap = 0; tap < channels * elementCount(window); tap += 1) {
      const [channel = 0, ...offset] = placed(tap, [channels, ...window]);
      const at = corner.map(
        (step, axis) =>
          step * (stride[axis] ?? 1) - (padding[axis] ?? 0) + (offset[axis] ?? 0) * (dilation[axis] ?? 1),
      );
      if (at.some((each, axis) => each < 0 || each >= (image[axis + 2] ?? 0))) continue;
      meetings.push({
        output,
        input: flat([sample, channel, ...at], image),
        kernel: flat([feature, channel, ...offset], kernel),
      });
    }
  }
  return meetings;
}

/** The indices along the axes of an entry, row-major. */
function placed(index: number, shape: readonly number[]): readonly number[] {
  const along: number[] = [];
  let rest = index;
  for (const size of [...shape].reverse()) {
    along.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return along;
}

function flat(along: readonly number[], shape: readonly number[]): number {
  return along.reduce((index, each, axis) => index * (shape[axis] ?? 1) + each, 0);
}
