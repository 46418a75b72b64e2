/** What a nudge changes: one entry of an input, or inputs along the tangent of a call of forward mode. */
import {
  type InputControl,
  inputControls,
  nest,
  nudgeable,
  parameterControls,
  withEntry,
} from "../embed/inputs";
import { formatNumber, type Precision, toNumber } from "../model/numbers";
import type { TraceState } from "../model/trace";
import { spelled } from "../protocol/values";
import type { InputValue, Nested } from "../stream/client";
import { entriesText } from "../words/values";

export interface Push {
  /** `x[0]`; `ALONG` for the tangent. */
  readonly name: string;
  /** As sentences call what is changed: `x[0]`, `x, w`. */
  readonly of: string;
  /** The magnitude against which a change is large or small. */
  readonly value: number;
  /** What it is after a change. */
  text(by: number, precision: Precision): string;
  /** The inputs after a change, by their keys. */
  inputs(by: number): ReadonlyMap<string, Nested>;
}

/** No name of a program, so that it stands for none in an address. */
export const ALONG = "J·t";

/** The tangent first, where the program pushed one. */
export function pushesOf(trace: TraceState, inputs: Readonly<Record<string, InputValue>>): readonly Push[] {
  const controls = inputControls(trace, inputs);
  const entries = nudgeable([...controls, ...parameterControls(trace, inputs)]).map(
    ({ control, entry }): Push => ({
      name: entry.name,
      of: entry.name,
      value: entry.value,
      text: (by, precision) => formatNumber(entry.value + by, precision),
      inputs: (by) => new Map([[control.key, withEntry(control, entry, entry.value + by)]]),
    }),
  );
  const along = alongTangents(trace, controls);
  return along === null ? entries : [along, ...entries];
}

interface Moving {
  readonly control: InputControl;
  readonly tangent: readonly number[];
}

function alongTangents(trace: TraceState, controls: readonly InputControl[]): Push | null {
  const started = trace.passes[0]?.started;
  const moving = (started?.tangents ?? []).flatMap(({ node, value }): Moving[] => {
    const input = started?.graph.nodes.find(({ id }) => id === node)?.input;
    const control = controls.find(({ key }) => key === input);
    const tangent = value?.data?.map(toNumber);
    if (control === undefined || tangent?.length !== control.entries.length) return [];
    return [{ control, tangent }];
  });
  // A part of the leaves would be another direction than the program's.
  if (moving.length === 0 || moving.length !== started?.tangents?.length) return null;
  const after = ({ control, tangent }: Moving, by: number) =>
    control.entries.map(({ value }, place) => spelled(value + by * (tangent[place] ?? 0)));
  return {
    name: ALONG,
    of: moving.map(({ control }) => control.key).join(", "),
    value: 1,
    text: (by, precision) =>
      moving
        .map((each) => entriesText({ data: after(each, by), shape: each.control.shape }, precision))
        .join(", "),
    inputs: (by) =>
      new Map(moving.map((each) => [each.control.key, nest(after(each, by), each.control.shape)])),
  };
}
