/**
 * Writes src/words/catalogue.gen.ts: every message of server/gradwalk/words/en.ftl with the operands that it needs.
 *
 *     node scripts/generate-words.mjs            writes the file
 *     node scripts/generate-words.mjs --check    writes nothing; exit status 1 when the file is stale
 */
import { readFileSync, writeFileSync } from "node:fs";
import { FluentResource } from "@fluent/bundle";

const SOURCE = new URL("../../server/gradwalk/words/en.ftl", import.meta.url);
const TARGET = new URL("../src/words/catalogue.gen.ts", import.meta.url);

const messages = new Map(
  new FluentResource(readFileSync(SOURCE, "utf8")).body.map((each) => [each.id, each]),
);

/** Names of the variables in a pattern, in the order of their first use. */
function operandsOf(part, found = new Set()) {
  if (Array.isArray(part)) for (const each of part) operandsOf(each, found);
  else if (part?.type === "var") found.add(part.name);
  else if (part?.type === "mesg" || part?.type === "term")
    operandsOf(messages.get(part.type === "term" ? `-${part.name}` : part.name)?.value, found);
  else if (part?.type === "select") {
    operandsOf(part.selector, found);
    for (const { value } of part.variants) operandsOf(value, found);
  }
  return found;
}

const lines = [...messages.values()]
  .filter(({ id }) => !id.startsWith("-"))
  .map(({ id, value }) => {
    const names = [...operandsOf(value)].map((name) => JSON.stringify(name));
    return `  ${JSON.stringify(id)}: ${names.length === 0 ? "never" : names.join(" | ")};`;
  });
const text = `/**
 * Generated from server/gradwalk/words/en.ftl by \`npm run generate\`; edit the catalogue, not this file.
 */

/** The operands of each message. */
export interface Catalogue {
${lines.join("\n")}
}
`;

if (process.argv.includes("--check")) {
  if (readFileSync(TARGET, "utf8") !== text) {
    console.error("src/words/catalogue.gen.ts is stale: run `npm run generate`");
    process.exit(1);
  }
} else {
  writeFileSync(TARGET, text);
}
