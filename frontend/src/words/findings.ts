/** What was found in a program and its passes, to be listed: each with what to do about it and the ways from it. */
import type { Phase } from "../model/phases";
import type { Position } from "../model/position";
import { firstStepOfPass } from "../model/selectors";
import type { MetProblem, PassState, TraceState } from "../model/trace";
import type { Filling, Finding, Problem, Span } from "../protocol/trace.gen";
import type { NoGrad } from "./nograds";
import { code, inSentences, label, listed, type Said, say, text, textOf } from "./say";
import { tellAttribute, tellProblem, tellSentence, titleOf } from "./tell";
import { shapeText } from "./values";

export interface Found {
  readonly id: string;
  /** In whose colour it is marked. */
  readonly kind: "problem" | "caught" | "warning" | "standout" | "note" | "none";
  readonly title: Said;
  /** Beside the title: the line that it is about. */
  readonly line?: number | null;
  /** A paragraph each. */
  readonly said: readonly Said[];
  readonly items?: { readonly name: string; readonly each: readonly string[] } | undefined;
  readonly ways: readonly { readonly label: string; readonly go: () => void }[];
}

export interface ProblemWays {
  /** Goes to the place in the program. */
  readonly ongoto: (span: Span) => void;
  /** Shows the node that raised; absent where there is no graph on show. */
  readonly onnode?: ((problem: Problem) => void) | undefined;
  /** Puts a line at the end of the program and runs it. */
  readonly onadd: (line: string) => void;
}

export function problemsFound(problems: readonly MetProblem[], ways: ProblemWays): readonly Found[] {
  return problems.map((problem, index) => {
    const { fact, isCaught, addition: call, failed, span, node } = problem;
    const { ongoto, onnode, onadd } = ways;
    const paragraphs = [
      tellProblem(problem),
      isCaught ? say("problem-caught") : null,
      tellAttribute(fact, "hint"),
    ];
    return {
      id: String(index),
      kind: isCaught ? "caught" : "problem",
      title: titleOf(problem),
      said: paragraphs.filter((said) => said !== null),
      items: failed && {
        name: label("page-operands-of", { op: failed.op }),
        each: failed.operands.map(
          ({ value }, at) =>
            `${label("page-operand-shape", { number: at + 1, shape: shapeText(value.shape) })} ${value.dtype}`,
        ),
      },
      ways: [
        ...(call === undefined ? [] : [{ label: label("page-add-call", { call }), go: () => onadd(call) }]),
        ...(onnode && (failed || node !== undefined)
          ? [{ label: label("page-show-node"), go: () => onnode(problem) }]
          : []),
        ...[...linesIn(fact)]
          .filter((line) => line !== span?.line)
          .flatMap((line) => toLine({ line, column: 0, end_line: line, end_column: 0 }, ongoto)),
        ...toLine(span, ongoto),
      ],
    };
  });
}

/** Lines that a fact names: where a value came from, where a graph was freed. */
function linesIn(filling: Filling): Set<number> {
  if (typeof filling !== "object") return new Set();
  if (Array.isArray(filling)) return new Set(filling.flatMap((each) => [...linesIn(each)]));
  const operands = "kind" in filling ? Object.entries(filling.operands ?? {}) : [];
  return new Set(operands.flatMap(([name, each]) => (name === "line" ? [Number(each)] : [...linesIn(each)])));
}

/** @param ongoto goes to the place in the program; absent where no program is on show */
export function warningsFound(trace: TraceState, ongoto?: (span: Span) => void): readonly Found[] {
  const counts = new Map(trace.finished?.repeated_warnings?.map(({ seq, count }) => [seq, count]));
  return trace.warnings.map(({ seq, category, text: words, span }) => ({
    id: String(seq),
    kind: "warning",
    title: titleOfWarning(category, counts.get(seq) ?? 1),
    said: [text(words)],
    ways: toLine(span, ongoto),
  }));
}

function titleOfWarning(category: string, count: number): Said {
  return count > 1 ? say("warning-times", { category: text(category), count }) : text(category);
}

export function standoutsFound(trace: TraceState, onposition: (to: Position) => void): readonly Found[] {
  return standouts(trace).map(({ id, title, said, step }) => ({
    id,
    kind: "standout",
    title: text(title),
    said: [said],
    ways: toStep(step, "multiply", onposition),
  }));
}

export function notesFound(trace: TraceState, onposition: (to: Position) => void): readonly Found[] {
  return worthKnowing(trace).map(({ id, said, step }) => ({
    id,
    kind: "note",
    title: [],
    said: [said],
    ways: toStep(step === 1 ? null : step, "collect", onposition),
  }));
}

export function noGradsFound(found: readonly NoGrad[]): readonly Found[] {
  return found.map(({ title, line, said }) => ({
    id: title,
    kind: "none",
    title: text(title),
    line,
    said: [said],
    ways: [],
  }));
}

function toLine(span: Span | null, ongoto?: (span: Span) => void): Found["ways"] {
  if (span === null || ongoto === undefined) return [];
  return [{ label: label("page-go-to-line", { line: String(span.line) }), go: () => ongoto(span) }];
}

function toStep(step: number | null, phase: Phase, onposition: (to: Position) => void): Found["ways"] {
  if (step === null) return [];
  const go = () => onposition({ direction: "backward", step, phase });
  return [{ label: label("player-show-step", { step: String(step) }), go }];
}

interface Standout {
  readonly id: string;
  /** The name of its kind. */
  readonly title: string;
  /** What it is, and what to write instead. */
  readonly said: Said;
  /** 1-based over all passes; null where it is about no single step. */
  readonly step: number | null;
}

/** What stands out in the numbers of a trace; in the order of the passes, and of the server within one. */
export function standouts(trace: TraceState): readonly Standout[] {
  return trace.passes.flatMap((pass) =>
    (pass.finished?.findings ?? []).map((finding, index) => ({
      id: `${pass.index}.${index}`,
      title: textOf(tellAttribute(finding.fact, "title") ?? []),
      said: inSentences([tellSentence(finding.fact), tellAttribute(finding.fact, "hint")]),
      step: stepOf(trace, pass.index, finding),
    })),
  );
}

function stepOf(trace: TraceState, pass: number, { step, node }: Finding): number | null {
  const index =
    step !== null
      ? trace.steps.findIndex((each) => each.index === step)
      : node === null
        ? -1
        : trace.steps.findIndex((each) => each.pass === pass && each.node === node);
  return index < 0 ? null : index + 1;
}

interface WorthKnowing {
  readonly id: string;
  readonly said: Said;
  /** The first step of the pass, 1-based over all passes; null where it has none. */
  readonly step: number | null;
}

/** What is worth knowing of whole passes: what was noted, then what the passes' own numbers say, each in the order of the passes; what ran after them between. */
export function worthKnowing(trace: TraceState): readonly WorthKnowing[] {
  const ofPasses = (kind: string, saidOf: (pass: PassState) => readonly Said[]) =>
    trace.passes.flatMap((pass) =>
      saidOf(pass).map((said, index) => {
        const step = firstStepOfPass(trace, pass.index) || null;
        return { id: `${pass.index}.${kind}.${index}`, said, step };
      }),
    );
  const after = (trace.finished?.notes ?? []).map((fact) => tellSentence(fact));
  return [
    ...ofPasses("note", ({ started }) => (started.notes ?? []).map((fact) => tellSentence(fact))),
    ...after.map((said, index) => ({ id: `end.${index}`, said, step: null })),
    ...ofPasses("fact", (pass) => [...examples(pass), ...materialized(pass)]),
  ];
}

function examples({ started }: PassState): Said[] {
  if (started.examples === undefined) return [];
  return [say("pass-examples", { count: text(started.examples.join(" × ")) })];
}

function materialized({ started, finished }: PassState): Said[] {
  const names = (finished?.materialized ?? []).map((index) => {
    const name = started.inputs[index]?.name;
    return name == null ? say("input-number", { number: text(String(index + 1)) }) : code(name);
  });
  return names.length === 0 ? [] : [say("pass-materialized", { names: listed(names) })];
}
