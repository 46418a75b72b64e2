/**
 * What a frame and the page round it say to each other: plain objects `{ns: "gradwalk", v: 1, type, ...}`. Anybody can
 * post to a frame, so every field is checked and nothing of a message is ever used as markup, code or a name.
 */
import { type Inputs, readInputs } from "./rerun";
import type { StepDetail } from "./viewer.svelte";

export const NAMESPACE = "gradwalk";
export const VERSION = 1;

/** The files that a frame hands over; the server makes them. */
export const KINDS = [
  "json",
  "dot",
  "svg",
  "png",
  "pdf",
  "html",
  "kit",
  "pages",
  "tex",
  "pptx",
  "gif",
  "mp4",
  "webm",
] as const;
export type Kind = (typeof KINDS)[number];

/** What may be set by a message; the same texts as in an address. */
export const SETTABLE = ["theme", "digits", "view", "projector", "keys", "hide", "steps"] as const;

export type Inbound =
  | { readonly type: "goto"; readonly step: number; readonly phase: number }
  | {
      readonly type: "set";
      readonly settings: Readonly<Record<string, string>>;
      readonly inputs: Inputs | null;
    }
  | { readonly type: "export"; readonly kind: Kind }
  | { readonly type: "next" | "prev" | "play" | "pause" | "state?" | "hello" };

export type Outbound =
  | {
      readonly type: "ready";
      readonly steps: number;
      readonly phases: number;
      readonly title: string;
      readonly stops: readonly string[];
    }
  | ({ readonly type: "step"; readonly announce: string } & Omit<StepDetail, "sentence">)
  | { readonly type: "edge"; readonly side: "start" | "end" }
  | { readonly type: "key"; readonly move: "next" | "prev" }
  | { readonly type: "resize"; readonly height: number }
  | {
      readonly type: "export";
      readonly kind: Kind;
      readonly media_type: string;
      readonly body: ArrayBuffer;
    }
  | { readonly type: "error"; readonly code: string };

/** `foreign`: not for us. `unreadable`: addressed to us, but not as it should be. */
export type Reading =
  | { readonly kind: "message"; readonly message: Inbound }
  | { readonly kind: "foreign" | "unreadable" };

const FOREIGN: Reading = { kind: "foreign" };
const UNREADABLE: Reading = { kind: "unreadable" };
const MOST_STEPS = 1_000_000;
const LONGEST_TEXT = 200;

export function readMessage(data: unknown): Reading {
  if (!isPlain(data) || own(data, "ns") !== NAMESPACE) return FOREIGN;
  if (own(data, "v") !== VERSION) return UNREADABLE;
  const type = own(data, "type");
  switch (type) {
    case "next":
    case "prev":
    case "play":
    case "pause":
    case "state?":
    case "hello":
      return { kind: "message", message: { type } };
    case "goto": {
      const step = own(data, "step");
      const phase = own(data, "phase") ?? 1;
      if (!isWithin(step, 0, MOST_STEPS) || !isWithin(phase, 1, 5)) return UNREADABLE;
      return { kind: "message", message: { type, step, phase } };
    }
    case "set": {
      const settings: Record<string, string> = {};
      for (const name of SETTABLE) {
        const value = own(data, name);
        if (value === undefined) continue;
        const text = typeof value === "boolean" || typeof value === "number" ? String(value) : value;
        if (typeof text !== "string" || text.length > LONGEST_TEXT) return UNREADABLE;
        settings[name] = text;
      }
      const given = own(data, "inputs");
      const inputs = given === undefined ? null : readInputs(given);
      if (given !== undefined && inputs === null) return UNREADABLE;
      return { kind: "message", message: { type, settings, inputs } };
    }
    case "export": {
      const asked = own(data, "kind");
      const kind = KINDS.find((each) => each === asked);
      return kind === undefined ? UNREADABLE : { kind: "message", message: { type, kind } };
    }
    default:
      return UNREADABLE;
  }
}

export function writeMessage(message: Outbound): Outbound & { ns: string; v: number } {
  return { ns: NAMESPACE, v: VERSION, ...message };
}

function isPlain(data: unknown): data is object {
  return typeof data === "object" && data !== null && !Array.isArray(data);
}

/** A field of the object itself: nothing that a prototype brings along. */
function own(data: object, name: string): unknown {
  return Object.hasOwn(data, name) ? (data as Record<string, unknown>)[name] : undefined;
}

function isWithin(value: unknown, low: number, high: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
}
