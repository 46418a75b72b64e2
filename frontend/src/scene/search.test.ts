import { describe, expect, it } from "vitest";
import { sampleTrace } from "../model/samples";
import { executions } from "../model/selectors";
import type { PassState } from "../model/trace";
import { atHand } from "../protocol/samples";
import { drawHeat, HEAT_LEVELS, heatLevel } from "./heat";
import { search } from "./search";

const trace = sampleTrace("mlp-step");
const pass = trace.passes[0] as PassState;
const { graph } = pass.started;

describe("search", () => {
  it("finds every node of an operation, each with the step that executes it", () => {
    const { shown, count } = search(trace, pass, graph, "addmm");
    const wanted = graph.nodes.filter((node) => node.name === "AddmmBackward0").map((node) => node.id);
    expect(shown.map((hit) => hit.node).sort()).toEqual(wanted.sort());
    expect(count).toBe(wanted.length);
    for (const hit of shown) expect(trace.steps[(hit.step ?? 0) - 1]?.node).toBe(hit.node);
  });

  it("takes a number for a line of the program, and wants every word", () => {
    const line = graph.nodes.find((node) => node.span !== null)?.span?.line ?? 0;
    for (const query of [String(line), ` LINE ${line} `]) {
      const lines = search(trace, pass, graph, query).shown.map((hit) => hit.line);
      expect([...new Set(lines)]).toEqual([line]);
    }
    const leaf = graph.nodes.find((node) => node.leaf != null)?.leaf ?? "";
    expect(search(trace, pass, graph, leaf).shown.map((hit) => hit.title)).toContain(leaf);
    expect(search(trace, pass, graph, `${leaf} nowhere`).count).toBe(0);
  });
});

describe("heat map", () => {
  it("knows the norm of every executed node, spread over the whole scale", () => {
    const heat = drawHeat(trace, pass, graph);
    const levels = new Set<number | null>();
    for (const [node, { step }] of executions(trace, pass)) {
      const [gradient] = step.grad_outputs;
      const spot = heat.spots.get(node);
      if (gradient === undefined || !("data" in gradient) || step.grad_outputs.length > 1) continue;
      const squares = (gradient.data ?? []).reduce<number>((sum, cell) => sum + Number(cell) ** 2, 0);
      expect(spot?.norm).toBeCloseTo(Math.sqrt(squares), 5);
      levels.add(heatLevel(spot, heat));
    }
    expect(levels).toContain(1);
    expect(levels).toContain(HEAT_LEVELS);
  });

  it.each(atHand("vanishing"))("marks the nodes that the server's findings are about: %s", (name) => {
    const vanishing = sampleTrace(name);
    const marked = vanishing.passes.flatMap((each) => {
      const { spots } = drawHeat(vanishing, each, each.started.graph);
      const about = (each.finished?.findings ?? []).filter(({ step }) => step !== null);
      return about.flatMap(({ node }) => (node === null ? [] : (spots.get(node)?.marks.length ?? 0)));
    });
    expect(Math.min(...marked, marked.length)).toBeGreaterThan(0);
  });
});
