/** No English stands outside the catalogue: neither in markup nor in the strings of a script. */
import { parse } from "svelte/compiler";
import { expect, it } from "vitest";

/** What no language translates. */
const NAMES = /\bgradwalk\b/g;
const SPOKEN = "alt aria-description aria-label aria-roledescription placeholder title".split(" ");
/** What stands in these is code in every language. */
const CODE_ELEMENTS = ["code", "kbd", "pre"];

interface SyntaxNode {
  readonly type: string;
  readonly [field: string]: unknown;
}

function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function wordsIn(text: string): number {
  const words = text.replace(NAMES, "").split(/[\s…]+/);
  return words.filter((word) => /^["'(]?[A-Za-z][a-z’']+[.,:;!?)"']*$/.test(word)).length;
}

/** The texts below a node that hold at least so many words: in markup one is a text, in a script most are names. */
function* textsIn(node: SyntaxNode, least: number): Generator<string> {
  const { type } = node;
  if (["ImportDeclaration", "ThrowStatement", "TSLiteralType"].includes(type)) return;
  if (type === "RegularElement" && CODE_ELEMENTS.includes(String(node.name))) return;
  const text = textOf(node);
  if (text !== null && wordsIn(text) >= least) yield text.trim();
  for (const child of Object.values(node).flat())
    if (isNode(child) && !(type === "Attribute" && child.type === "Text" && !isSpoken(node)))
      yield* textsIn(child, leastWithin(node, least));
}

function textOf(node: SyntaxNode): string | null {
  if (node.type === "Text") return String(node.data);
  if (node.type === "Literal" && typeof node.value === "string") return node.value;
  if (node.type !== "TemplateLiteral") return null;
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join("…");
}

function leastWithin(node: SyntaxNode, least: number): number {
  if (node.type === "RegularElement" || isSpoken(node)) return 1;
  return /^(Attribute|CallExpression|BinaryExpression)$|Statement$/.test(node.type) ? 2 : least;
}

const isSpoken = (node: SyntaxNode): boolean =>
  node.type === "Attribute" && SPOKEN.includes(String(node.name));

function englishIn(source: string): string[] {
  const { fragment, instance, module } = parse(source, { modern: true });
  const scripts = [module, instance].flatMap((script) => (script ? script.content : []));
  return [
    ...scripts.flatMap((script) => [...textsIn(script as unknown as SyntaxNode, 2)]),
    ...textsIn(fragment as unknown as SyntaxNode, 1),
  ];
}

const asScript = (source: string): string =>
  `<script lang="ts">${source.replaceAll("</script", "<\\/script")}</script>`;

/** Of the folders whose texts are in the catalogue. */
const SOURCES = Object.entries(
  import.meta.glob<string>(["../{app,stream}/*.{ts,svelte}", "!../*/*.{test,gen}.ts"], {
    query: "?raw",
    import: "default",
    eager: true,
  }),
);

it.each(SOURCES)("%s holds no English", (path, source) => {
  expect(englishIn(path.endsWith(".ts") ? asScript(source) : source)).toEqual([]);
});

it.each<[string, string[]]>([
  ['<button aria-label="Close">Run</button>', ["Close", "Run"]],
  ["<p>{open ? 'Hide' : 'Show'}</p>", ["Hide", "Show"]],
  ["<p title={open ? 'Hide' : name}>{`\u0024{count} answers`}</p>", ["Hide", "… answers"]],
  ['<p class="wide open" role="note">{label("page-run")} · <code>x is y</code></p>', []],
  ['<p>{kind === "open" ? "✓" : "✗"}</p>', []],
  [asScript('const said = "Not checked";'), ["Not checked"]],
  [asScript("const said = `The server answered \u0024{status}.`;"), ["The server answered …."]],
  [asScript('import "the other thing"; const kind: "open door" = f("active-span", `\u0024{base}/api`);'), []],
])("finds what is spoken in %s", (source, texts) => {
  expect(englishIn(source)).toEqual(texts);
});
