/** The program behind a permalink `/t/...`. */
import { label } from "../words/say";
import { type Refusal, sentenceOf, statusOf, type TraceRequest } from "./client";

const PERMALINK = /^\/t\/([0-9a-f]{40})\/?$/;

/** The address of the program that this path stands for, null for any other page. */
export function snippetOf(path: string): string | null {
  return PERMALINK.exec(path)?.[1] ?? null;
}

/**
 * Null when nothing was ever kept under it.
 *
 * @throws {TypeError} when the server is out of reach
 */
export async function fetchSnippet(snippet: string, signal: AbortSignal): Promise<TraceRequest | null> {
  const response = await fetch(`/api/snippets/${snippet}`, { signal });
  return response.ok ? ((await response.json()) as TraceRequest) : null;
}

/**
 * Keeps a program on the server, for links; gives its address.
 *
 * @throws {Error} with the server's reason
 */
export async function keepProgram(request: TraceRequest, signal: AbortSignal): Promise<string> {
  const response = await fetch("/api/snippets", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(request),
    signal,
  });
  const answer = (await response.json()) as Refusal & { id?: string };
  if (answer.id === undefined)
    throw new Error(sentenceOf(answer) ?? label("page-server-answered", { status: statusOf(response) }));
  return answer.id;
}
