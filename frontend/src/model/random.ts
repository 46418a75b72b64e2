/** Traces of random graphs for unit tests: one pass through random operations on scalars, as the engine would run it. */
import * as fc from "fast-check";
import type { Edge, Event, Node, Step, TensorValue } from "../protocol/trace.gen";
import { graphOf } from "./drawn";
import { emptyTrace, foldEvents, type TraceState } from "./trace";

/** An operation on results before it, by their numbers counted back, and its partial derivatives; 0: the rule returned None. */
interface Drawn {
  readonly op: string;
  readonly operands: readonly { readonly back: number; readonly partial: number }[];
}

const OPS = ["Mul", "Add", "View", "Sin", "Mean", "Clone"];

const drawn: fc.Arbitrary<Drawn> = fc.record({
  op: fc.constantFrom(...OPS),
  operands: fc.array(fc.record({ back: fc.nat(5), partial: fc.integer({ min: 0, max: 3 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
});

export const randomTraces: fc.Arbitrary<TraceState> = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.array(drawn, { minLength: 1, maxLength: 12 }))
  .map(([leaves, ops]) => traceOf(leaves, ops));

const scalar = (number: number): TensorValue => ({ shape: [], dtype: "float32", data: [number] });

function traceOf(leaves: number, ops: readonly Drawn[]): TraceState {
  const drawing = ops.map(({ op, operands }, place) => {
    const at = leaves + place;
    const from = operands.map(({ back }) => `n${Math.max(0, at - 1 - back)}`);
    return `n${at}=${op}Backward0: ${from.join(" ")}`;
  });
  const { nodes: drawn, edges } = graphOf(drawing.join("\n"));
  const placeOf = ({ id }: Node): number => Number(id.slice(1));
  const nodes = drawn.map((node): Node => {
    const leaf = node.kind === "accumulate_grad" && { name: "AccumulateGrad", leaf: `w${placeOf(node)}` };
    const value = scalar(placeOf(node));
    const inputs = node.inputs.map((operand) => ({ ...operand, name: "self", value }));
    return { ...node, inputs, outputs: [{ value, name: `t${placeOf(node)}` }], ...leaf };
  });
  nodes.sort((one, other) => placeOf(one) - placeOf(other));
  const partials = new Map(
    ops.map(({ operands }, at) => [`n${leaves + at}`, operands.map((one) => one.partial)]),
  );
  const output = `n${leaves + ops.length - 1}`;
  const events = [
    {
      type: "started",
      format: 2,
      id: "0".repeat(40),
      source: "",
      options: {},
      versions: { gradwalk: "0", torch: "0" },
    },
    {
      type: "pass_started",
      pass: 0,
      call: "backward",
      span: null,
      inputs: [],
      create_graph: false,
      graph: { nodes, edges, groups: [] },
      outputs: [{ node: output, output_nr: 0, name: "y", seed: scalar(1) }],
    },
    ...stepsOf(nodes, edges, partials, output),
    { type: "pass_finished", pass: 0, leaf_grads: [] },
    { type: "finished", passes: 1, steps: 0, problems: 0, truncated: null },
  ];
  return foldEvents(
    emptyTrace(),
    events.map((event, seq) => ({ ...event, seq })) as readonly unknown[] as Event[],
  );
}

/** Of what is ready, what was built last; everything that a node waits for has come before it runs. */
function stepsOf(
  nodes: readonly Node[],
  edges: readonly Edge[],
  partials: ReadonlyMap<string, readonly number[]>,
  output: string,
): Step[] {
  const sent = new Map<string, { edge: string; value: TensorValue }[]>([
    [output, [{ edge: "seed", value: scalar(1) }]],
  ]);
  const steps: Step[] = [];
  for (const node of [...nodes].reverse()) {
    const arrived = sent.get(node.id);
    if (arrived === undefined) continue;
    const v = arrived.reduce((sum, { value }) => sum + Number(value.data?.[0]), 0);
    const isLeaf = node.leaf !== undefined;
    const returned = isLeaf ? [] : (partials.get(node.id) ?? []);
    for (const { id, from, to } of edges) {
      const partial = returned[to.argnum] ?? 0;
      if (to.node !== node.id || partial === 0) continue;
      sent.set(from.node, [...(sent.get(from.node) ?? []), { edge: id, value: scalar(v * partial) }]);
    }
    steps.push({
      type: "step",
      seq: 0,
      pass: 0,
      index: steps.length,
      node: node.id,
      grad_outputs: [scalar(v)],
      contributions: arrived.map(({ edge, value }) => ({ edge, value, output_nr: 0 })),
      grad_inputs: returned.map((partial) =>
        partial === 0 ? { missing: "returned_none" } : scalar(v * partial),
      ),
      local_jacobians: [],
      accumulate: isLeaf ? { leaf: node.leaf, before: { missing: "not_computed" }, after: scalar(v) } : null,
    } as unknown as Step);
  }
  return steps;
}
