/**
 * Where layouts come from: those made beforehand, else the worker. A worker that fails is replaced once per request.
 */

import type { Graph } from "../protocol/trace.gen";
import type { Drawing, Layout } from "./place";
import { place } from "./place";
import { drawingOf, pictureKey } from "./sizes";
import { layOutSimply } from "./spare";
import type { LayoutAnswer, LayoutReady, LayoutRequest } from "./worker";

interface Waiting {
  readonly graph: Graph;
  readonly open: ReadonlySet<string>;
  readonly resolve: (layout: Layout) => void;
  readonly reject: (error: Error) => void;
  attempts: number;
}

const ATTEMPTS = 2;
/** How long a picture waits for Graphviz to be fetched, from when that began. */
const PATIENCE_MS = 1500;
const waiting = new Map<number, Waiting>();
let worker: Promise<Worker> | null = null;
let lastId = 0;
/** What the worker in use has been sent, by how it looks. */
const sent = new Map<string, number>();

const ready = new Map<string, Layout>();
let isOffline = false;
let script: readonly [address: string, base: string] = ["", ""];
let isFetched = false;
let fetchBegan = 0;

/** Takes over a layout that was made beforehand: this drawing needs no Graphviz. */
export function rememberLayout(drawing: Drawing, layout: Layout): void {
  ready.set(JSON.stringify(drawing), layout);
}

/** Workers load `kit/layout.js`, which is found at this address from that one. */
export function layOutWith(address: string, base: string): void {
  script = [address, base];
}

/** From now on Graphviz is not fetched: what no layout was made for beforehand is laid out in the plain way. */
export function layOutOffline(): void {
  isOffline = true;
}

/**
 * Rejects when Graphviz refuses the drawing twice: that is our bug, not the student's. Where it cannot be fetched, as
 * under the policy of another site, the layout is a plain one.
 *
 * @param onplain is given the plain layout where Graphviz is still on a slow line: a picture now, a better one later.
 */
export function requestLayout(
  graph: Graph,
  open: ReadonlySet<string>,
  onplain?: (layout: Layout) => void,
): Promise<Layout> {
  if (ready.size > 0 || isOffline) {
    const drawing = drawingOf(graph, open);
    const before = ready.get(JSON.stringify(drawing));
    if (before !== undefined) return Promise.resolve(before);
    if (isOffline) return Promise.resolve(place(drawing, layOutSimply));
  }
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { graph, open, resolve, reject, attempts: 0 });
    send(id);
    if (onplain !== undefined && !isFetched)
      setTimeout(
        () => {
          if (!isFetched && waiting.has(id)) onplain(place(drawingOf(graph, open), layOutSimply));
        },
        fetchBegan + PATIENCE_MS - performance.now(),
      );
  });
}

/**
 * Fetches Graphviz before the first graph is there to be laid out; a failure shows at the first request. Resolves when
 * the line is free again.
 */
export async function prepareLayout(): Promise<void> {
  worker ??= startWorker();
  await worker.catch(() => undefined);
}

function send(id: number): void {
  const request = waiting.get(id);
  if (request === undefined) return;
  request.attempts += 1;
  worker ??= startWorker();
  const asked = worker;
  asked.then(
    (started) => started.postMessage(messageOf(id, request)),
    // Only while it is still the worker in use: several requests may have waited for the one that failed.
    (error: Error) => asked === worker && restart(error.message),
  );
}

function messageOf(id: number, { graph, open }: Waiting): LayoutRequest {
  const key = pictureKey(graph);
  const { subject, open: inOrder } = drawingOf(graph, open);
  const known = sent.get(key);
  if (known !== undefined) return { id, subjectId: known, open: inOrder };
  sent.set(key, id);
  return { id, subjectId: id, subject, open: inOrder };
}

/** Graphviz is most of the page's weight: it is fetched beside the first paint, not before it. */
function startWorker(): Promise<Worker> {
  fetchBegan ||= performance.now();
  return new Promise((resolve, reject) => {
    const { href } = new URL(...script);
    // A page may not start a worker of another site, but one of its own may load a script from there.
    const lines = `import ${JSON.stringify(href)}; gradwalkLayout.serve();`;
    const own = URL.createObjectURL(new Blob([lines], { type: "text/javascript" }));
    const started = new Worker(own, { type: "module" });
    started.onmessage = ({ data }: MessageEvent<LayoutReady | LayoutAnswer>) => {
      if (data !== "ready") {
        receive(data);
        return;
      }
      URL.revokeObjectURL(own);
      isFetched = true;
      started.onerror = (event) => {
        event.preventDefault();
        restart(event.message);
      };
      resolve(started);
    };
    // Without a message where the script did not come.
    started.onerror = (event) => {
      event.preventDefault();
      reject(new Error(event.message ?? href));
    };
  });
}

function receive(answer: LayoutAnswer): void {
  const request = waiting.get(answer.id);
  if (request === undefined) return;
  if ("layout" in answer) {
    waiting.delete(answer.id);
    request.resolve(answer.layout);
  } else restart(answer.error);
}

/** Graphviz keeps its state in memory that a fault can leave broken: start afresh and ask everything again. */
function restart(reason: string): void {
  worker?.then(
    (started) => started.terminate(),
    () => undefined,
  );
  worker = null;
  sent.clear();
  for (const [id, request] of [...waiting]) {
    if (request.attempts < ATTEMPTS) send(id);
    else {
      waiting.delete(id);
      if (isFetched) request.reject(new Error(reason));
      else request.resolve(place(drawingOf(request.graph, request.open), layOutSimply));
    }
  }
}
