/** A call read as one operation, held against what the engine returned at its borders. */
import { describe, expect, it } from "vitest";
import type { Graph, Group } from "../protocol/trace.gen";
import { readAsCalls, resultOf } from "./calls";
import { isTensor } from "./gradients";
import { nodesById } from "./graph";
import { hideGradient, maskTrace } from "./mask";
import { stopsOfStep } from "./position";
import { sampleTrace } from "./samples";

describe.each(["structures", "mlp-step"])("%s", (name) => {
  const trace = sampleTrace(name);
  const read = readAsCalls(trace, () => false);
  const calls = trace.passes.flatMap(({ started, index }) =>
    started.graph.groups.flatMap(({ call }) => (call === undefined ? [] : [{ call, pass: index }])),
  );

  it("hands on at a call what the engine handed on at its borders, known once it is multiplied", () => {
    let told = 0;
    for (const { call, pass } of calls) {
      const stepOf = (node: string) => trace.steps.find((step) => step.pass === pass && step.node === node);
      const computing = stepOf(call.node);
      if (computing?.call === undefined) continue;
      told += 1;
      expect(read.steps[computing.index]?.grad_outputs).toEqual(stepOf(call.output)?.grad_outputs);
      for (const phase of ["rule", "multiply"] as const) {
        const position = { direction: "backward", step: computing.index + 1, phase } as const;
        const known = maskTrace(trace, position);
        const step = readAsCalls(known, () => false).steps[computing.index];
        for (const [at, { border }] of call.operands.entries()) {
          const returned = stepOf(border.node)?.grad_inputs[border.argnum];
          const isHidden = phase === "rule" && isTensor(returned);
          expect(step?.grad_inputs[at]).toEqual(isHidden ? hideGradient(returned) : returned);
        }
      }
    }
    expect(told).toBeGreaterThan(0);
  });

  it("calls each of its nodes by the call, and leaves all others and every stop", () => {
    const inside = new Set(
      calls.flatMap(({ call, pass }) => {
        const nodes = trace.passes[pass]?.started.graph.nodes ?? [];
        const group = nodes.find(({ id }) => id === call.node)?.group;
        return nodes.filter((node) => node.group === group && node.leaf === undefined).map(({ id }) => id);
      }),
    );
    for (const [at, step] of trace.steps.entries()) {
      expect(stopsOfStep(read, "backward", at + 1)).toEqual(stopsOfStep(trace, "backward", at + 1));
      if (!inside.has(step.node)) expect(read.steps[at]).toBe(step);
    }
    for (const { call, pass } of calls) {
      const node = read.passes[pass]?.started.graph.nodes.find(({ id }) => id === call.output);
      expect([node?.name, node?.inputs.length]).toEqual([call.op, call.operands.length]);
    }
  });

  it("is the trace itself where every group is open", () => {
    expect(readAsCalls(trace, () => true)).toBe(trace);
  });
});

it("takes nothing between two nodes of a call for an operand or a saved tensor of that", () => {
  const trace = sampleTrace("structures");
  const graphs = trace.passes.map(({ started }) => started.graph);
  const at = graphs.findIndex(({ groups }) => groups.some(({ call }) => call?.op === "cross_entropy"));
  const group = graphs[at]?.groups.find(({ call }) => call?.op === "cross_entropy") as Group;
  expect(resultOf(group, graphs[at] as Graph)).toBe(group.call?.output);
  const read = readAsCalls(trace, () => false).passes[at];
  expect(group.nodes).not.toEqual([]);
  for (const id of group.nodes) {
    const node = read && nodesById(read.started.graph).get(id);
    expect(node?.inputs.map(({ source }) => source)).toEqual(["scores"]);
    expect(node?.saved.map(({ name }) => name)).toEqual(["target", "total_weight"]);
    expect(node?.saved.map(({ value }) => value?.data)).toEqual([[0, 2], [2]]);
  }
});
