/** What is said of the three phases of a forward step. */
import { ranAs } from "../model/calls";
import { isTensor } from "../model/gradients";
import type { ForwardPhase } from "../model/phases";
import type { Node, SavedTensor, TensorValue } from "../protocol/trace.gen";
import { operandName, opOf, type Scene, savedName } from "./names";
import { code, listed, type Said, say, sentence } from "./say";
import { isShort, spellGradient, spellShape } from "./values";

const SENTENCES: Readonly<Record<ForwardPhase, (scene: Scene, node: Node) => Said>> = {
  arrive: arriving,
  compute: computed,
  save: kept,
};

export function forwardSentence(scene: Scene, node: Node, phase: ForwardPhase): Said {
  const ran = ranAs(node);
  return sentence(SENTENCES[phase](ran === null ? scene : { ...scene, graph: ran.graph }, ran?.node ?? node));
}

function arriving(scene: Scene, node: Node): Said {
  const op = opOf(node);
  const operands = node.inputs.flatMap((operand) => {
    const name = operandName(scene, node, operand);
    return name === null ? [] : [spoken(scene, name, operand.value)];
  });
  return operands.length === 0
    ? say("forward-called", { op })
    : say("forward-gets", { op, operands: listed(operands) });
}

function computed(scene: Scene, node: Node): Said {
  const op = opOf(node);
  if (node.outputs.length === 0) return say("forward-computes-result", { op });
  const results = node.outputs.map(({ name, value }) =>
    spoken(scene, name === null ? say("forward-result") : code(name), value),
  );
  return say("forward-computes", { op, results: listed(results) });
}

function kept(scene: Scene, node: Node): Said {
  const op = opOf(node);
  const tensors = node.saved.filter(isSavedTensor).map((saved) => savedName(scene, node, saved));
  const count = node.saved.length - tensors.length;
  if (node.saved.length === 0) return say("forward-saves-nothing", { op });
  if (tensors.length === 0) return say("forward-saves-plain", { op, count });
  const said = { op, tensors: listed(tensors) };
  return count === 0 ? say("forward-saves", said) : say("forward-saves-besides", { ...said, count });
}

/** Sizes, strides and flags, which PyTorch saves under names of its own, are no tensors. */
function isSavedTensor({ value, version }: SavedTensor): boolean {
  return version !== null || value !== null;
}

/** `x = 2`, `x of shape [2, 3]`; a constant is its own name. */
function spoken(scene: Scene, name: Said, value: TensorValue | null | undefined): Said {
  if (value === null || value === undefined || !isTensor(value)) return name;
  if (!isShort(value)) return say("forward-shape", { name, shape: spellShape(value.shape) });
  const spelled = spellGradient(value, scene.precision);
  return spelled[0]?.text === name[0]?.text ? spelled : say("forward-is", { name, value: spelled });
}
