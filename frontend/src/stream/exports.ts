/** Files of a trace: which there are, and one in the making with news of how far it is. */
import type { Fact } from "../protocol/trace.gen";
import { label, languageSpoken } from "../words/say";
import { type Refusal, readEvents, sentenceOf, statusOf } from "./client";

export interface ExportKind {
  readonly name: string;
  readonly suffix: string;
  /** What it is. */
  readonly fact: Fact;
  /** A page, slide or picture per step or phase. */
  readonly has_pages: boolean;
}

export interface Wanted {
  readonly trace: string;
  readonly name: string;
  readonly step: number;
  readonly phase: number;
  readonly every: "step" | "phase";
  readonly direction: "backward" | "forward";
}

/** What this server can turn a trace into. */
export async function fetchExports(): Promise<readonly ExportKind[]> {
  const answer = await fetch("/api/exports");
  if (!answer.ok) throw new Error(label("page-server-answered", { status: statusOf(answer) }));
  return ((await answer.json()) as { exports: ExportKind[] }).exports;
}

/** How far a file is: `ahead` jobs come first while it waits; `of` is 0 as long as nobody knows how many pages it has. */
export interface Progress {
  readonly done: number;
  readonly of: number;
  readonly ahead: number;
}

/** Waits for a file and tells how many of its pages are done; gives its address. Throws, in words, where there is none. */
export async function makeExport(
  { trace, name, step, phase, every, direction }: Wanted,
  onprogress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<string> {
  const lang = languageSpoken();
  const query = new URLSearchParams({ step: String(step), phase: String(phase), every, direction, lang });
  const answer = await fetch(`/api/traces/${trace}/export/${name}/progress?${query}`, { signal });
  if (!answer.ok) throw new Error(await reasonOf(answer));
  let address: string | null = null;
  let problem: string | null = null;
  await readEvents(answer, ({ event, data }) => {
    const told = JSON.parse(data) as Partial<Progress> & Refusal & { address?: string };
    if (event === "progress") onprogress({ done: told.done ?? 0, of: told.of ?? 0, ahead: told.ahead ?? 0 });
    else if (event === "done") address = told.address ?? null;
    else if (event === "problem") problem = sentenceOf(told) ?? "";
  });
  if (problem !== null) throw new Error(problem);
  if (address === null) throw new Error(label("page-file-broken"));
  return address;
}

async function reasonOf(answer: Response): Promise<string> {
  const problem = (await answer.json().catch(() => ({}))) as Refusal;
  return sentenceOf(problem) ?? label("page-server-answered", { status: statusOf(answer) });
}
