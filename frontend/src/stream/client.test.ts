/** The client against a real HTTP server that drops, refuses, repeats and stalls. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { fact } from "../protocol/facts";
import { readSample } from "../protocol/samples";
import type { Event } from "../protocol/trace.gen";
import { type Outcome, runTrace, type Status } from "./client";

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

const SAMPLE = readSample("x-times-x");
const { id: ID, events: EVENTS } = SAMPLE;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(handler: Handler): Promise<{ base: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      asked.push(`${request.method} ${request.url} after ${request.headers["last-event-id"] ?? "-"}`);
      handler(request, response, Buffer.concat(chunks).toString());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

const PROBLEM = { "Content-Type": "application/problem+json" };
const ORACLE = 'event: batch\ndata: [{"seq": 0, "type": "oracle"}]\n\n';

function stream(response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
}

function streamOf(response: ServerResponse, text: string): void {
  stream(response);
  response.end(text);
}

function batch(events: Event[]): string {
  return `event: batch\nid: ${events.at(-1)?.seq}\ndata: ${JSON.stringify(events)}\n\n`;
}

const streamAll = (response: ServerResponse): void => streamOf(response, batch(EVENTS));
const cut = (response: ServerResponse): void => streamOf(response, batch(EVENTS.slice(0, 3)));

async function run(base: string, signal = new AbortController().signal) {
  const events: Event[] = [];
  const statuses: Status[] = [];
  const outcome: Outcome = await runTrace(
    { source: "x", options: {} },
    {
      base,
      signal,
      backoffMs: [1],
      onevents: (fresh) => events.push(...fresh),
      onstatus: (status) => statuses.push(status),
    },
  );
  return { outcome, events, statuses };
}

describe("a run", () => {
  it("hands over every event of a stream that is cut into odd pieces", async () => {
    const { base } = await serve((_, response) => {
      stream(response);
      const text = `${EVENTS.map((event) => batch([event])).join("")}event: done\ndata: {}\n\n`;
      for (let at = 0; at < text.length; at += 7) response.write(text.slice(at, at + 7));
      response.end();
    });
    const { outcome, events } = await run(base);
    expect(events).toEqual(EVENTS);
    expect(outcome).toEqual({ kind: "finished", id: ID });
  });

  it("resumes after two dropped connections with no event lost or doubled", async () => {
    let connection = 0;
    const { base, asked } = await serve((request, response) => {
      connection += 1;
      stream(response);
      const after = Number(request.headers["last-event-id"] ?? -1);
      // The second connection begins one event too early, as a careless proxy's replay would.
      const from = connection === 2 ? after : after + 1;
      response.write(batch(EVENTS.slice(from, from + 3)));
      if (connection < 3) response.write("event: status\ndata: {}\n\n", () => response.destroy());
      else response.end(`${batch(EVENTS.slice(from + 3))}event: done\ndata:\n\n`);
    });
    const { events, statuses, outcome } = await run(base);
    expect(events).toEqual(EVENTS);
    expect(outcome.kind).toBe("finished");
    expect(asked).toEqual([
      "POST /api/traces after -",
      `GET /api/traces/${ID}/events after 2`,
      `GET /api/traces/${ID}/events after 4`,
    ]);
    expect(statuses.filter((status) => status.kind === "offline")).toHaveLength(2);
  });

  it.each([202, 200])(
    "follows the id of an answer that does not stream: to events, or to a document",
    async (status) => {
      const { base, asked } = await serve((request, response) => {
        if (request.method === "GET" && status === 202) return streamAll(response);
        response.writeHead(status, { "Content-Type": "application/json" });
        response.end(JSON.stringify(request.method === "POST" ? { id: ID } : SAMPLE));
      });
      expect((await run(base)).events).toEqual(EVENTS);
      expect(asked[1]).toBe(`GET /api/traces/${ID}${status === 202 ? "/events" : ""} after -`);
    },
  );

  it("says when it is busy, counts down and tries again", async () => {
    const { base, asked } = await serve((_, response) => {
      if (asked.length === 1) response.writeHead(429, { "Retry-After": "1" }).end();
      else streamAll(response);
    });
    const { statuses, outcome } = await run(base);
    expect(statuses).toContainEqual({ kind: "busy", retryInSeconds: 1 });
    expect(outcome.kind).toBe("finished");
  });

  const lost = { kind: "internal", fact: fact("problem-lost") };
  const tooLong = { title: "Too long", detail: "20 kB are allowed." };
  const told = fact("problem-told", { title: "Too long", text: "20 kB are allowed." });
  it.each<[string, object, ...((response: ServerResponse) => void)[]]>([
    [
      "a run that ended before the point it had reached",
      lost,
      cut,
      (response) => response.writeHead(204).end(),
    ],
    ["the same, said in a stream", lost, cut, (response) => streamOf(response, "event: done\ndata: {}\n\n")],
    [
      "what the server refuses",
      { kind: "too_big", fact: told },
      (response) => response.writeHead(413, PROBLEM).end(JSON.stringify(tooLong)),
    ],
    ["a stream it cannot read", { kind: "protocol" }, (response) => streamOf(response, ORACLE)],
  ])("makes a problem of %s", async (_, problem, ...answers) => {
    const { base, asked } = await serve((_, response) => answers[asked.length - 1]?.(response));
    expect((await run(base)).outcome).toMatchObject({ kind: "refused", problem });
  });

  it("stops when it is called off, also while waiting", async () => {
    const abort = new AbortController();
    const { base } = await serve((_, response) => {
      response.writeHead(429, { "Retry-After": "60" }).end();
      setImmediate(() => abort.abort());
    });
    expect((await run(base, abort.signal)).outcome).toEqual({ kind: "aborted" });
  });
});
