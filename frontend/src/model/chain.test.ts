import { describe, expect, it } from "vitest";
import { TRACES } from "../protocol/samples";
import type { Chain, Link, TensorId } from "./chain";
import { chainBetween, groupEnds, pathsOf, withGroupsAsLinks } from "./chain";
import { areEqual, broughtTo, changedLinks, jacobianOf, recordedV, timesLinks } from "./chainrule";
import { graphOf } from "./drawn";
import { sampleTrace } from "./samples";
import type { PassState } from "./trace";

/** A fan-out whose gradient came from several sides is no product of one chain; an output without a gradient has no v. */
const FEWEST_COMPARED = 120;

function tensorsOf({ started: { graph } }: PassState): readonly TensorId[] {
  return graph.nodes.flatMap(({ id, outputs }) => outputs.map((_, outputNr) => ({ node: id, outputNr })));
}

/** Of every two tensors of a sample between which all numbers are known, whether v times J is what the engine brought. */
function compared(name: string) {
  const trace = sampleTrace(name);
  return trace.passes.flatMap((pass) => {
    const jacobian = (link: Link) => jacobianOf(trace, pass, link);
    const tensors = tensorsOf(pass);
    const pairs = tensors.flatMap((of) => tensors.map((by) => [of, by] as const));
    return pairs.flatMap(([of, by]) => {
      const chain = chainBetween(pass.started.graph, of, by);
      const v = recordedV(trace, pass, of);
      if (chain === null || v === null) return [];
      const product = timesLinks(v, chain, jacobian);
      const brought = broughtTo(trace, pass, chain)(by);
      if (product === null || brought === null) return [];
      const isChanged = changedLinks(trace, pass, chain).length > 0;
      return [{ isEqual: areEqual(product, brought.rows), isChanged }];
    });
  });
}

it.each(TRACES)("multiplies to what the engine brought, for every two tensors of %s", (name) => {
  const different = compared(name).filter(({ isEqual }) => !isEqual);
  expect(different.every(({ isChanged }) => isChanged)).toBe(true);
  expect(different.length > 0).toBe(name === "returned-jacobian");
});

it("compares nearly all pairs of the samples", () => {
  expect(TRACES.flatMap(compared).length).toBeGreaterThanOrEqual(FEWEST_COMPARED);
});

const at = (node: string): TensorId => ({ node, outputNr: 0 });

const drawn = (chain: Chain | null): readonly string[] | null =>
  chain?.segments.map(({ of, by, paths, group }) => `${group ?? ""}${of.node}-${by.node} ${paths}`) ?? null;

describe("a chain", () => {
  it("counts 2^5000 paths without walking them", () => {
    const turns = Array.from({ length: 5_000 }, (_, at) => `y${5_000 - at}: y${4_999 - at} y${4_999 - at}`);
    const chain = chainBetween(graphOf(turns.join("\n")), at("y5000"), at("y0"));
    expect(chain?.paths).toBe(2n ** 5_000n);
    expect(chain?.segments).toHaveLength(5_000);
  });

  it("has a cut wherever all paths meet, and leaves out what leads elsewhere", () => {
    // z = p * q, p = f(m), q = g(m), m = h(x, w): the paths to x split at z and meet at m.
    const graph = graphOf("l: z k\nz: p q\np: m\nq: m u\nm: x w\nk: u");
    expect(drawn(chainBetween(graph, at("l"), at("x")))).toEqual(["l-z 1", "z-m 2", "m-x 1"]);
    expect(drawn(chainBetween(graph, at("l"), at("u")))).toEqual(["l-u 2"]);
    expect(chainBetween(graph, at("p"), at("q"))).toBeNull();
    expect(chainBetween(graph, at("x"), at("l"))).toBeNull();
    expect(chainBetween(graph, at("x"), at("x"))).toBeNull();
  });

  it("names each path of a segment", () => {
    const chain = chainBetween(graphOf("z: x s\ns: x"), at("z"), at("x"));
    const paths = (most: number) => chain?.segments.flatMap((segment) => pathsOf(segment, most)) ?? [];
    expect(paths(9).map((path) => path.map(({ edge }) => edge.id))).toEqual([["z0"], ["z1", "s0"]]);
    expect(paths(1)).toHaveLength(1);
  });

  it("has a group as one link, with all of its paths", () => {
    const graph = graphOf("z@F: p q\np@F: m\nq@F: m\nm@G: x");
    const chain = chainBetween(graph, at("z"), at("x"));
    if (chain === null) throw new Error("no chain");
    expect(drawn(withGroupsAsLinks(graph, chain, new Set(["F", "G"])))).toEqual(["Fz-m 2", "Gm-x 1"]);
    expect(groupEnds(graph)).toEqual([
      { group: "F", of: at("z"), by: at("m") },
      { group: "G", of: at("m"), by: at("x") },
    ]);
  });
});
