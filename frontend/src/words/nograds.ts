/** Leaves that ended without a gradient, and names that one may take for a leaf: which, why, and what to write instead. */

import { missingSentence } from "../model/missing";
import type { PassState, TraceState } from "../model/trace";
import type { Missing, MissingCause, Node } from "../protocol/trace.gen";
import { alsoOthers, instead } from "./advice";

export interface NoGrad {
  /** `x.grad`, or what a call of `grad` returned for `x`. */
  readonly title: string;
  readonly leaf: string;
  readonly line: number | null;
  /** Why, and what to write instead; what stands between backticks is code. */
  readonly text: string;
  /** Somebody may wait for it: it is worth saying before the first step. */
  readonly isMissed: boolean;
}

const known = new WeakMap<TraceState["passes"], readonly NoGrad[]>();

/** As `.grad` is after the last pass that tells of it; leaves with the same reason are told of together. */
export function noGrads(trace: TraceState): readonly NoGrad[] {
  const done = known.get(trace.passes);
  if (done !== undefined) return done;
  const groups = new Map<string, Entry[]>();
  for (const entry of entriesOf(trace.passes)) {
    const key = keyOf(entry);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  const found = [...groups.values()].map(toNoGrad);
  known.set(trace.passes, found);
  return found;
}

/** That of the leaf or the named result that a node stands for. */
export function noGradAt(trace: TraceState, { leaf, outputs }: Node): NoGrad | null {
  const names = leaf === undefined ? outputs.map(({ name }) => name) : [leaf];
  return noGrads(trace).find((each) => names.includes(each.leaf)) ?? null;
}

interface Entry {
  readonly title: string;
  readonly leaf: string;
  readonly missing: Missing;
  readonly isRead: boolean;
}

function entriesOf(passes: readonly PassState[]): readonly Entry[] {
  const latest = new Map<string, Entry | null>();
  for (const { started, finished } of passes) {
    for (const { leaf, grad, is_read } of finished?.leaf_grads ?? []) {
      const isNone = "missing" in grad;
      if (isNone && !isTelling(grad)) continue;
      const title = `${leaf}.grad`;
      latest.set(title, isNone ? { title, leaf, missing: grad, isRead: is_read === true } : null);
    }
    (finished?.results ?? []).forEach((result, index) => {
      const leaf = started.inputs[index]?.name;
      if (!("missing" in result) || result.missing !== "no_path" || leaf == null) return;
      const title = `result for ${leaf}`;
      latest.set(title, { title, leaf, missing: result, isRead: true });
    });
  }
  return [...latest.values()].filter((entry) => entry !== null);
}

/** Not where a pass leaves `.grad` alone, or has not got there. */
function isTelling({ missing, cause }: Missing): boolean {
  return cause !== undefined || missing === "returned_none" || missing === "undefined";
}

function keyOf({ title, missing }: Entry): string {
  const { cause } = missing;
  return cause === undefined || SINGLE.has(cause.kind) ? title : `${cause.kind} ${cause.line} ${cause.call}`;
}

/** Their sentences speak of the leaf itself. */
const SINGLE: ReadonlySet<MissingCause["kind"]> = new Set(["integer", "non_leaf", "reassigned"]);
/** What a person may well have meant. */
const DELIBERATE: ReadonlySet<MissingCause["kind"]> = new Set(["frozen", "integer", "not_required"]);

function toNoGrad(group: readonly Entry[]): NoGrad {
  const [first, ...rest] = group;
  if (first === undefined) throw new Error("a group has a first entry");
  const { title, leaf, missing } = first;
  const { cause } = missing;
  const others = alsoOthers(rest.map((entry) => entry.leaf));
  const advice = cause === undefined ? "" : instead(leaf, cause);
  return {
    title,
    leaf,
    line: cause?.line ?? null,
    text: [missingSentence(missing), others, advice].filter((part) => part !== "").join(" "),
    isMissed: group.some(({ isRead }) => isRead) || cause === undefined || !DELIBERATE.has(cause.kind),
  };
}
