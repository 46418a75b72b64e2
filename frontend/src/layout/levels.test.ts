/** Levels as Graphviz reads them: it finds a way for every line. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { dotOf } from "./dot";
import { askEngine } from "./graphviz";
import { type Item, type Level, levelsOf, type Subject, TOP } from "./levels";

const item = (id: string, home: string = TOP): Item => ({ id, home, width: 140, height: 72 });
const group = (id: string, home: string = TOP, isFold = false) => ({ ...item(id, home), isFold });
const edge = (id: string, from: string, to: string, isLoose = false) => ({ id, from, to, isLoose });

/** The lines that Graphviz drew, as `id tail head`. */
function drawn(subject: Subject): readonly string[] {
  const curves = [...levelsOf(subject).values()].flatMap((level) => askEngine(dotOf(level)).curves);
  for (const { curve } of curves) expect(curve.length % 3).toBe(1);
  return curves.map(({ id, tail, head }) => `${id} ${tail} ${head}`);
}

it("puts the points of a border in the first and the last column", () => {
  const nodes = [item("n0"), ...["n1", "n2", "n3", "n4"].map((id) => item(id, "g0")), item("n5")];
  const chain = nodes.slice(1).map(({ id }, index) => edge(`e${index}`, `n${index}`, id));
  const subject = { nodes, groups: [group("g0")], edges: [...chain, edge("e9", "n0", "n4")] };
  const { middles } = askEngine(dotOf(levelsOf(subject).get("g0") as Level));
  const columns = [...middles.values()].map(({ x }) => x);
  expect(middles.get("in_e0")?.x).toBe(Math.min(...columns));
  expect(middles.get("in_e9")?.x).toBe(Math.min(...columns));
  expect(middles.get("out_e4")?.x).toBe(Math.max(...columns));
});

it("puts a fold where the first of its parts would stand, and other groups behind the nodes", () => {
  const subject = {
    nodes: [item("x"), item("w", "f"), item("z"), item("a", "g")],
    groups: [group("g"), group("f", TOP, true)],
    edges: [],
  };
  expect(levelsOf(subject).get(TOP)?.items).toMatchObject(["x", "f", "z", "g"].map((id) => ({ id })));
});

it("hides a loose edge from Graphviz, but where it leads to a group", () => {
  const edges = ["b", "c"].map((to, at) => edge(`e${at}`, "a", to, true));
  const subject = { nodes: [item("a"), item("b"), item("c", "g")], groups: [group("g")], edges };
  expect(drawn(subject)).toEqual(["e1 a g"]);
});

it("draws any graph whole", () => {
  const shape = fc.record({
    parents: fc.array(fc.nat(4), { maxLength: 4 }),
    homes: fc.array(fc.nat(4), { minLength: 1, maxLength: 12 }),
    pairs: fc.array(fc.tuple(fc.nat(11), fc.nat(11)), { maxLength: 20 }),
  });
  fc.assert(
    fc.property(shape, ({ parents, homes, pairs }) => {
      // A group's parent is an earlier one, or none.
      const groups = parents.map((parent, index) => group(`g${index}`, parent < index ? `g${parent}` : TOP));
      const nodes = homes.map((home, index) => item(`n${index}`, home < groups.length ? `g${home}` : TOP));
      const edges = pairs
        .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
        .filter(([from, to]) => from < to && to < nodes.length)
        .map(([from, to], index) => edge(`e${index}`, `n${from}`, `n${to}`));
      const pieces = drawn({ nodes, groups, edges }).map((line) => line.split(" "));
      const around = (id: string): string[] => {
        const home = [...nodes, ...groups].find((each) => each.id === id)?.home ?? TOP;
        return home === TOP ? [] : [home, ...around(home)];
      };
      for (const { id, from, to } of edges) {
        const own = pieces.filter(([name]) => name === id);
        expect(own.filter(([, tail]) => tail === from)).toHaveLength(1);
        expect(own.filter(([, , head]) => head === to)).toHaveLength(1);
        const [out, into] = [around(from), around(to)];
        const borders = [...out, ...into].filter((each) => !(out.includes(each) && into.includes(each)));
        expect(own).toHaveLength(borders.length + 1);
      }
    }),
    { numRuns: 50, seed: 1 },
  );
});
