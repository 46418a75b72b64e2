/** Graphs for unit tests, drawn as text. */
import type { Edge, Graph, Group, Node } from "../protocol/trace.gen";

/**
 * `z: y y` is a node z with y as both operands, numbered as if lines ran in turn; a name that has no line of its own is a
 * leaf. `z=Mul@F: x y` is a node of the operation Mul in group F.
 */
export function graphOf(drawing: string): Graph {
  const made = drawing
    .trim()
    .split("\n")
    .map((line) => {
      const [head = "", ...operands] = line.trim().split(/[: ]+/);
      const [, id = "", name = id, group = null] = /^(\w+)(?:=(\w+))?(?:@(\w+))?$/.exec(head) ?? [];
      return { id, name, group, operands };
    });
  const known = new Set(made.map(({ id }) => id));
  const leaves = [...new Set(made.flatMap(({ operands }) => operands))].filter((id) => !known.has(id));
  const edges: Edge[] = made.flatMap(({ id, operands }) =>
    operands.map((from, argnum) => ({
      id: `${id}${argnum}`,
      from: { node: from, output_nr: 0 },
      to: { node: id, argnum },
    })),
  );
  const node = (
    id: string,
    name: string,
    group: string | null,
    operands: readonly string[],
    at: number,
  ): Node => ({
    id,
    name,
    op: name,
    kind: operands.length === 0 ? "accumulate_grad" : "op",
    label: name,
    span: null,
    group,
    inputs: operands.map((_, argnum) => ({ argnum, name: "", value: null, edge: `${id}${argnum}` })),
    outputs: [{ value: null, name: id }],
    output_count: 1,
    saved: [],
    formula: null,
    sequence_nr: operands.length === 0 ? null : at,
  });
  const groups = [...new Set(made.flatMap(({ group }) => group ?? []))].map(
    (id): Group => ({
      id,
      kind: "function",
      label: id,
      parent: null,
      span: null,
      nodes: made.filter(({ group }) => group === id).map((each) => each.id),
    }),
  );
  const nodes = [
    ...made.map(({ id, name, group, operands }, at) => node(id, name, group, operands, at)),
    ...leaves.map((id) => node(id, "leaf", null, [], 0)),
  ];
  return { nodes, edges, groups };
}
