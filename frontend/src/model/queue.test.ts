import { expect, it } from "vitest";
import { TRACES } from "../protocol/samples";
import { isTensor } from "./gradients";
import { formatPosition, START } from "./position";
import { queueAt } from "./queue";
import { sampleTrace, walkFrom } from "./samples";
import { passAt, stepAt } from "./selectors";

it.each(TRACES)(
  "says of every step of %s why its node runs now, by the numbers in which nodes were built",
  (name) => {
    const trace = sampleTrace(name);
    for (const position of walkFrom(trace, START)) {
      const [pass, step] = [passAt(trace, position), stepAt(trace, position)];
      if (pass === null || step === null) continue;
      const at = formatPosition(position);
      const { now, ready, waiting } = queueAt(trace, pass, position);
      const arrived = step.contributions.filter(({ value }) => isTensor(value)).length;
      if (arrived === 0) {
        expect(now, at).toBeNull();
        continue;
      }
      expect(now, at).toMatchObject({ node: { id: step.node }, arrived, expected: arrived });
      for (const each of ready) expect(each.arrived, at).toBe(each.expected);
      for (const each of waiting) expect(each.arrived > 0 && each.arrived < each.expected, at).toBe(true);
      const before = { ...position, phase: "collect" as const };
      const others = queueAt(trace, pass, before).ready;
      expect(now?.because === "only", at).toBe(others.length === 0);
      const built = (node: { leaf?: string; sequence_nr: number | null }): number =>
        node.leaf === undefined ? (node.sequence_nr ?? -1) : Number.POSITIVE_INFINITY;
      for (const { node } of others) expect(built(now?.node ?? node), at).toBeGreaterThanOrEqual(built(node));
      if (others.length > 0) expect(now?.because === "leaf", at).toBe(now?.node.leaf !== undefined);
    }
  },
);
