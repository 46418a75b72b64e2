/**
 * Writes src/protocol/trace.gen.ts from the JSON Schema that the Python models print.
 *
 *     node scripts/generate-types.mjs            runs .venv's Python for the schema
 *     node scripts/generate-types.mjs --stdin    takes the schema on standard input
 *     node scripts/generate-types.mjs --check    writes nothing; exit status 1 when the file is stale
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { compile } from "json-schema-to-typescript";

const TARGET = new URL("../src/protocol/trace.gen.ts", import.meta.url);
const SERVER = new URL("../../server", import.meta.url).pathname;
const PRINT_SCHEMA =
  "import json; from gradwalk.protocol.schema import page_schema; print(json.dumps(page_schema()))";
const BANNER = `/**
 * Generated from server/gradwalk/protocol by \`npm run generate\`; edit the Python models, not this file.
 */`;

/** Unions that Python names by an alias, which JSON Schema writes out in full at every use. */
const ALIASES = {
  Event: (schema) => schema.properties.events.items,
  Real: ({ $defs }) => $defs.Histogram.properties.low,
  Cell: ({ $defs }) => $defs.TensorValue.properties.data.items,
  Gradient: ({ $defs }) => $defs.PassOutput.properties.seed,
  MissingReason: ({ $defs }) => $defs.Missing.properties.missing,
  Structure: ({ $defs }) => $defs.LocalJacobian.properties.structure.anyOf[0],
  ProblemKind: ({ $defs }) => $defs.Problem.properties.kind,
  Call: ({ $defs }) => $defs.PassStarted.properties.call,
  NodeKind: ({ $defs }) => $defs.Node.properties.kind,
  GroupKind: ({ $defs }) => $defs.Group.properties.kind,
};

function readSchema() {
  if (process.argv.includes("--stdin")) return JSON.parse(readFileSync(0, "utf8"));
  const python = new URL("../../.venv/bin/python", import.meta.url).pathname;
  const env = { ...process.env, PYTHONPATH: SERVER };
  return JSON.parse(execFileSync(python, ["-c", PRINT_SCHEMA], { encoding: "utf8", env }));
}

/** Titles of properties would each become an exported alias (`type Format = number`). */
function dropPropertyTitles(value) {
  if (Array.isArray(value)) return value.map(dropPropertyTitles);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, child]) => {
    if (key !== "properties") return [key, dropPropertyTitles(child)];
    return [
      key,
      Object.fromEntries(
        Object.entries(child).map(([name, { title: _, ...rest }]) => [name, dropPropertyTitles(rest)]),
      ),
    ];
  });
  return Object.fromEntries(entries);
}

/** TypeScript has one number type, so integer beside number would read `number | number`. */
function dropIntegerBesideNumber(value) {
  if (Array.isArray(value)) {
    const hasNumber = value.some((item) => item?.type === "number");
    return value.filter((item) => !(hasNumber && item?.type === "integer")).map(dropIntegerBesideNumber);
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, dropIntegerBesideNumber(child)]),
  );
}

function replaceByReference(value, name, target) {
  if (Array.isArray(value)) return value.map((item) => replaceByReference(item, name, target));
  if (value === null || typeof value !== "object") return value;
  const { description: _, ...described } = value;
  if (isDeepStrictEqual(described, target)) return { $ref: `#/$defs/${name}` };
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, replaceByReference(child, name, target)]),
  );
}

/** A described reference would be generated as a second type (`Span1`) beside the first. */
function dropDescriptionBesideReference(value) {
  if (Array.isArray(value)) return value.map(dropDescriptionBesideReference);
  if (value === null || typeof value !== "object") return value;
  if (typeof value.$ref === "string") return { $ref: value.$ref };
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, dropDescriptionBesideReference(child)]),
  );
}

function nameAliases(schema) {
  let named = schema;
  for (const [name, find] of Object.entries(ALIASES)) {
    const { description: _, ...target } = find(named);
    named = replaceByReference(named, name, target);
    named.$defs[name] = { ...target, title: name };
  }
  return named;
}

/**
 * Where values stand, by the name of each definition and field: "" for a value, else the definition that holds some.
 * On the wire a number stands there.
 */
function valuePlaces({ $defs, properties }) {
  const mentioned = (value) => {
    if (Array.isArray(value)) return value.flatMap(mentioned);
    if (value === null || typeof value !== "object") return [];
    if (typeof value.$ref === "string") return [value.$ref.slice("#/$defs/".length)];
    return Object.values(value).flatMap(mentioned);
  };
  const places = {};
  for (let before = -1; before < Object.keys(places).length; ) {
    before = Object.keys(places).length;
    for (const [name, { properties: fields = {} }] of Object.entries($defs)) {
      const found = Object.entries(fields).flatMap(([field, schema]) => {
        const holder = mentioned(schema).find((each) => each === "TensorValue" || each in places);
        return holder === undefined ? [] : [[field, holder === "TensorValue" ? "" : holder]];
      });
      if (found.length > 0) places[name] = Object.fromEntries(found);
    }
  }
  const isInEvent = new Set(Object.values(eventDefinitions({ properties })));
  for (const name of isInEvent) for (const holder of Object.values(places[name] ?? {})) isInEvent.add(holder);
  return Object.fromEntries(
    Object.entries(places).filter(([name]) => isInEvent.has(name) || name === "Missing"),
  );
}

/** What stands in a field that was left out, by the name of each definition and field. */
function defaults({ $defs }) {
  const found = Object.entries($defs).map(([name, { properties = {} }]) => [
    name,
    Object.fromEntries(
      Object.entries(properties).flatMap(([field, schema]) =>
        "default" in schema ? [[field, schema.default]] : [],
      ),
    ),
  ]);
  return Object.fromEntries(found.filter(([, fields]) => Object.keys(fields).length > 0));
}

/** The definition of each type of event. */
function eventDefinitions({ properties }) {
  const { mapping } = properties.events.items.discriminator;
  return Object.fromEntries(
    Object.entries(mapping).map(([type, reference]) => [type, reference.slice("#/$defs/".length)]),
  );
}

const plain = dropIntegerBesideNumber(dropPropertyTitles(readSchema()));
const schema = nameAliases(dropDescriptionBesideReference(plain));
const generated = await compile(schema, "TraceDocument", {
  additionalProperties: false,
  bannerComment: BANNER,
  unreachableDefinitions: true,
  style: { printWidth: 110 },
});

const tables = `
/** Where values stand, by type and field: "" for a value, else the type that holds some. On the wire a number stands there. */
export const VALUE_PLACES: Readonly<Record<string, Readonly<Record<string, string>>>> = ${JSON.stringify(valuePlaces(plain), null, 2)};

/** What stands in a field that is left out on the wire, by type and field. */
export const DEFAULTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = ${JSON.stringify(defaults(plain), null, 2)};

/** The name of each event's type. */
export const EVENT_DEFINITIONS: Readonly<Record<Event["type"], string>> = ${JSON.stringify(eventDefinitions(plain), null, 2)};
`;

const text = `${generated}${tables}`
  .replace(/\/\*\*\n \* This interface was referenced by .*\n \* via the .*\n \*\/\n/g, "")
  .replace(/ \*\n \* This interface was referenced by .*\n \* via the .*\n/g, "");

if (process.argv.includes("--check")) {
  if (readFileSync(TARGET, "utf8") !== text) {
    console.error("src/protocol/trace.gen.ts is stale: run `npm run generate`");
    process.exit(1);
  }
} else {
  writeFileSync(TARGET, text);
}
