/**
 * Writes src/protocol/catalogue.gen.ts, every message of server/gradwalk/words/en.ftl with the operands that it needs, and
 * server/gradwalk/protocol/fact_kinds.py, the names of the messages for Python's type checker.
 *
 *     node scripts/generate-words.mjs            writes the files
 *     node scripts/generate-words.mjs --check    writes nothing; exit status 1 when a file is stale
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { FluentResource } from "@fluent/bundle";

const SOURCE = new URL("../../server/gradwalk/words/en.ftl", import.meta.url);
const TYPESCRIPT = new URL("../src/protocol/catalogue.gen.ts", import.meta.url);
const PYTHON = new URL("../../server/gradwalk/protocol/fact_kinds.py", import.meta.url);

const messages = new Map(
  new FluentResource(readFileSync(SOURCE, "utf8")).body.map((each) => [each.id, each]),
);

/** Names of the variables in a pattern, in the order of their first use. */
function operandsOf(part, found = new Set()) {
  if (Array.isArray(part)) for (const each of part) operandsOf(each, found);
  else if (part?.type === "var") found.add(part.name);
  else if (part?.type === "mesg" || part?.type === "term") {
    const message = messages.get(part.type === "term" ? `-${part.name}` : part.name);
    operandsOf(part.attr ? message?.attributes[part.attr] : message?.value, found);
  } else if (part?.type === "select") {
    operandsOf(part.selector, found);
    for (const { value } of part.variants) operandsOf(value, found);
  }
  return found;
}

/** What the message says, and what its attributes say of the same operands. */
function patternsOf(message) {
  return [message?.value, ...Object.values(message?.attributes ?? {})].flat();
}

const keys = [...messages.keys()].filter((id) => !id.startsWith("-"));

const lines = keys.map((id) => {
  const names = [...operandsOf(patternsOf(messages.get(id)))].map((name) => JSON.stringify(name));
  return `  ${JSON.stringify(id)}: ${names.length === 0 ? "never" : names.join(" | ")};`;
});
const typescript = `/**
 * Generated from server/gradwalk/words/en.ftl by \`npm run generate\`; edit the catalogue, not this file.
 */

/** The operands of each message. */
export interface Catalogue {
${lines.join("\n")}
}
`;
const python = `"""Generated from words/en.ftl by \`make generate\`; edit the catalogue, not this file."""

from typing import Literal

FactKind = Literal[
${keys.map((id) => `    ${JSON.stringify(id)},`).join("\n")}
]
`;

/** A language need not be complete: what it lacks is said in English. */
for (const file of readdirSync(new URL(".", SOURCE)).filter((name) => name.endsWith(".ftl"))) {
  if (file === "en.ftl") continue;
  const theirs = new Set(
    new FluentResource(readFileSync(new URL(file, SOURCE), "utf8")).body.map(({ id }) => id),
  );
  const count = keys.filter((key) => theirs.has(key)).length;
  console.log(`figure: ${file} has ${count} of ${keys.length} messages`);
}

for (const [target, text] of [
  [TYPESCRIPT, typescript],
  [PYTHON, python],
]) {
  if (!process.argv.includes("--check")) writeFileSync(target, text);
  else if (readFileSync(target, "utf8") !== text) {
    console.error(`${target.pathname} is stale: run \`npm run generate\``);
    process.exit(1);
  }
}
