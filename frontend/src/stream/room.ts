/**
 * A live room, seen from the page: whole states come down as server-sent events, moves and answers go up.
 *
 * Whoever reconnects gets the last state and needs nothing in between, so a lost line is only a pause.
 */
import { label, textOf } from "../words/say";
import { tellProblem } from "../words/tell";
import { pause, problemOf, readEvents } from "./client";

export interface RoomQuestion {
  readonly id: string;
  readonly prompt: string;
}

/** What the presenter shows. */
export interface Shown {
  readonly trace: string | null;
  /** As in a link: `7.3`. */
  readonly position: string;
  readonly speed: number;
  readonly question: RoomQuestion | null;
  /** The hall may see how it answered. */
  readonly revealed: boolean;
}

export interface Tally {
  /** Null for all those that are not listed. */
  readonly answer: string | null;
  readonly count: number;
}

export interface RoomView {
  readonly revision: number;
  readonly shown: Shown;
  readonly answered: number;
  /** Null for the hall until it is revealed. */
  readonly tally: readonly Tally[] | null;
  /** Only for the presenter. */
  readonly followers: number | null;
  readonly away: number | null;
}

export interface RoomKey {
  readonly code: string;
  /** Only the presenter has one. */
  readonly secret: string | null;
  /** Only a follower has one, which the room gave. */
  readonly participant: string | null;
}

export interface RoomListeners {
  onview: (view: RoomView) => void;
  /** Of a follower that had no name yet. */
  onseated?: (participant: string) => void;
  /** Out of reach, or there again. */
  onconnected: (connected: boolean) => void;
  signal: AbortSignal;
}

const CODE = /^[BCDFGHJKMNPQRSTVWXZ]{6}$/;
const JSON_BODY = { "Content-Type": "application/json" };
const BACKOFF_MS = [300, 700, 1500, 3000];

/** A code as people type it, null where it cannot be one. */
export function readCode(text: string): string | null {
  const bare = text.toUpperCase().replace(/[\s-]/g, "");
  return CODE.test(bare) ? bare : null;
}

/** @throws {Error} with the server's sentence, or that it is out of reach */
export async function openRoom(shown: Shown): Promise<RoomKey> {
  const response = await send("POST", "", null, { shown });
  const { code, secret } = (await response.json()) as { code: string; secret: string };
  return { code, secret, participant: null };
}

/** Sets what everybody sees. */
export const presentState = ({ code, secret }: RoomKey, shown: Shown): Promise<Response> =>
  send("PUT", `/${code}/state`, secret, { shown });

export const sendAnswer = (
  { code, participant }: RoomKey,
  question: string,
  answer: string,
): Promise<Response> =>
  send("PUT", `/${code}/answers/${question}`, null, { participant, answer: answer.slice(0, 80) });

/** Says whether one follows or tries something of one's own. */
export const sendPresence = ({ code, participant }: RoomKey, following: boolean): Promise<Response> =>
  send("PUT", `/${code}/participants/${participant}`, null, { following });

export const closeRoom = ({ code, secret }: RoomKey): Promise<Response> => send("DELETE", `/${code}`, secret);

/** Hands over every view until the room ends, and says why it did; null where one has left. Comes back by itself. */
export async function followRoom(key: RoomKey, listeners: RoomListeners): Promise<string | null> {
  const { signal, onview, onseated, onconnected } = listeners;
  const gone = label(key.secret === null ? "page-room-closed-by-lecturer" : "page-room-closed");
  let { participant } = key;
  for (let failures = 0; !signal.aborted; failures += 1) {
    try {
      if (key.secret === null && participant === null) {
        const path = `/api/rooms/${key.code}/participants`;
        const response = await fetch(path, { method: "POST", headers: JSON_BODY, signal });
        if (response.status === 404) return gone;
        if (!response.ok) throw new Error(response.statusText);
        participant = ((await response.json()) as { participant: string }).participant;
        onseated?.(participant);
      }
      const query = participant === null ? "" : `?participant=${participant}`;
      const headers = { Accept: "text/event-stream", ...authorization(key.secret) };
      const response = await fetch(`/api/rooms/${key.code}/events${query}`, { headers, signal });
      if (response.status === 404) return gone;
      if (response.status === 403 || response.status === 422)
        return textOf(tellProblem(await problemOf(response)));
      if (!response.ok) throw new Error(response.statusText);
      failures = 0;
      onconnected(true);
      let isClosed = false;
      await readEvents(response, ({ event, data }) => {
        if (event === "closed") isClosed = true;
        else if (event === "room") onview(JSON.parse(data) as RoomView);
      });
      if (isClosed) return gone;
    } catch {
      // Out of reach: tried again below.
    }
    if (signal.aborted) break;
    onconnected(false);
    // At random, so that a hall that lost its line does not come back in the same instant.
    const most = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 0;
    await pause(most * (0.5 + Math.random()), signal);
  }
  return null;
}

async function send(method: string, path: string, secret: string | null, body?: unknown): Promise<Response> {
  const headers = { ...JSON_BODY, ...authorization(secret) };
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
  const response = await fetch(`/api/rooms${path}`, init).catch(() => {
    throw new Error(label("page-server-unreachable"));
  });
  if (!response.ok) throw new Error(textOf(tellProblem(await problemOf(response))));
  return response;
}

function authorization(secret: string | null): Record<string, string> {
  return secret === null ? {} : { Authorization: `Bearer ${secret}` };
}
