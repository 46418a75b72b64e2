/** Asks the worker for layouts; a worker that fails is replaced once per request. */
import type { Drawing, Layout } from "./place";
import type { LayoutAnswer, LayoutRequest } from "./worker";
import LayoutWorker from "./worker?worker&inline";

interface Waiting {
  readonly drawing: Drawing;
  readonly resolve: (layout: Layout) => void;
  readonly reject: (error: Error) => void;
  attempts: number;
}

const ATTEMPTS = 2;
const waiting = new Map<number, Waiting>();
let worker: Worker | null = null;
let lastId = 0;

/** Rejects when Graphviz refuses the drawing twice: that is our bug, not the student's. */
export function requestLayout(drawing: Drawing): Promise<Layout> {
  lastId += 1;
  const id = lastId;
  return new Promise((resolve, reject) => {
    waiting.set(id, { drawing, resolve, reject, attempts: 0 });
    send(id);
  });
}

function send(id: number): void {
  const request = waiting.get(id);
  if (request === undefined) return;
  request.attempts += 1;
  worker ??= startWorker();
  worker.postMessage({ id, drawing: request.drawing } satisfies LayoutRequest);
}

function startWorker(): Worker {
  const started = new LayoutWorker();
  started.onmessage = (event: MessageEvent<LayoutAnswer>) => receive(event.data);
  started.onerror = (event) => {
    event.preventDefault();
    restart(event.message);
  };
  return started;
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
  worker?.terminate();
  worker = null;
  for (const [id, request] of [...waiting]) {
    if (request.attempts < ATTEMPTS) send(id);
    else {
      waiting.delete(id);
      request.reject(new Error(`The graph could not be laid out: ${reason}`));
    }
  }
}
