/** Leaves that ended without a gradient, and names that one may take for a leaf: which, why, and what to write instead. */

import { append } from "../model/lists";
import { onceFor } from "../model/once";
import type { PassState, TraceState } from "../model/trace";
import { passesOf } from "../model/trace";
import type { Missing, Node } from "../protocol/trace.gen";
import { missingSaid } from "./missing";
import { code, enumerated, inSentences, label, type Said, say } from "./say";
import { tellAttribute } from "./tell";

export interface NoGrad {
  /** `x.grad`, or what a call of `grad` returned for `x`. */
  readonly title: string;
  readonly leaf: string;
  readonly line: number | null;
  /** Why, and what to write instead. */
  readonly said: Said;
  /** Somebody may wait for it: it is worth saying before the first step. */
  readonly isMissed: boolean;
}

/** As `.grad` is after the last pass that tells of it; leaves with the same reason are told of together. */
export const noGrads = onceFor(passesOf, ({ passes }): readonly NoGrad[] => {
  const groups = new Map<string, Entry[]>();
  for (const entry of entriesOf(passes)) {
    append(groups, keyOf(entry), entry);
  }
  return [...groups.values()].map(toNoGrad);
});

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
      const title = label("nograd-result", { name: leaf });
      latest.set(title, { title, leaf, missing: result, isRead: true });
    });
  }
  return [...latest.values()].filter((entry) => entry !== null);
}

/** Not where a pass leaves `.grad` alone, or has not got there. */
function isTelling({ missing, line }: Missing): boolean {
  return line !== undefined || missing === "returned_none" || missing === "undefined";
}

/** Leaves that the same thing keeps a gradient from share a key. */
function keyOf({ title, missing: { because, line } }: Entry): string {
  if (line === undefined || because === undefined) return title;
  return JSON.stringify([because.kind, line, { ...because.operands, name: null }]);
}

function toNoGrad(group: readonly Entry[]): NoGrad {
  const [first, ...rest] = group;
  if (first === undefined) throw new Error("a group has a first entry");
  const { title, leaf, missing } = first;
  const { because, line } = missing;
  const hint = because === undefined ? null : tellAttribute(because, "hint");
  return {
    title,
    leaf,
    line: line ?? null,
    said: inSentences([missingSaid(missing), others(rest.map((entry) => entry.leaf)), hint]),
    // That a tensor does not require grad may well be meant.
    isMissed: group.some(({ isRead }) => isRead) || line === undefined || missing.missing !== "not_required",
  };
}

const OTHERS_LISTED = 4;

/** Of leaves that share a reason. */
function others(leaves: readonly string[]): Said | null {
  if (leaves.length === 0) return null;
  const names = enumerated(leaves.slice(0, OTHERS_LISTED).map((name) => code(name)));
  const count = leaves.length - OTHERS_LISTED;
  return count > 0 ? say("nograd-others-more", { names, count }) : say("nograd-others", { names });
}
