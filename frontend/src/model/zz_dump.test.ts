import { writeFileSync } from "node:fs";
import { it } from "vitest";
import { TRACES } from "../protocol/samples";
import { judge } from "./answers";
import { intermediatesOf } from "./byhand";
import { questionsOfStep } from "./questions";
import { sampleTrace } from "./samples";

it("dumps", () => {
  const out: string[] = [];
  const add = (...a: unknown[]) =>
    out.push(
      JSON.stringify(a, (_k, v) =>
        v instanceof Map ? [...v] : typeof v === "number" && !Number.isFinite(v) ? String(v) : v,
      ),
    );
  for (const name of TRACES) {
    const trace = sampleTrace(name);
    trace.steps.forEach((_, i) => {
      for (const q of questionsOfStep(trace, i + 1) as any[]) {
        add(name, q.id, q.kind, q.prompt, q.kind === "sign" ? [q.answer].flat() : q.answer);
        for (const m of q.mistakes ?? []) add(name, q.id, "mistake", m);
        const tries: any[] =
          q.kind === "shape"
            ? [q.answer, [2, 3], [...q.answer].reverse(), [7], []]
            : q.kind === "sign"
              ? Array.isArray(q.answer)
                ? ["ask-positive", "ask-negative", "ask-zero"]
                : ["positive", "negative", "zero"]
              : q.kind === "nodes"
                ? [q.answer, ...q.choices.map((c: any) => [c.id]), q.choices.map((c: any) => c.id)]
                : [];
        for (const t of tries) {
          const isStr = q.kind === "sign" && Array.isArray(q.answer);
          const v = judge(q, isStr ? ([t] as any) : t);
          add(name, q.id, "judged", t, v.isRight, v.said);
        }
      }
    });
    trace.passes.forEach((pass) => {
      const found = intermediatesOf(pass) as any;
      if (Array.isArray(found))
        for (const f of found) {
          add(name, pass.index, f.variable, f.isGiven);
          for (const m of f.mistakes) add(name, pass.index, f.variable, m);
        }
      else add(name, pass.index, found);
    });
  }
  writeFileSync(process.env.DUMP ?? "/tmp/dump.txt", out.join("\n"));
});
