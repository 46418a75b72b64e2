/**
 * The lecture kit, into `static/kit/` under names that do not change: decks and notebooks link to them.
 * Without a mode the module for browsers, `--mode layout` what its worker and the server run, `--mode bake` what the
 * server runs after it, `--mode reveal` the plugin.
 */
import { readdirSync, readFileSync } from "node:fs";
import { svelte, vitePreprocess } from "@sveltejs/vite-plugin-svelte";
import type { PreprocessorGroup } from "svelte/compiler";
import { minify } from "terser";
import { defineConfig, type LibraryOptions, type Plugin } from "vite";

const SERVER = new URL("../server/gradwalk/", import.meta.url);
/** Packages that make the facts of a trace. */
const TRACERS = ["engine", "formulas", "protocol", "sandbox", "tracer"];

/** Styles go into the shadow root: a component's own by Svelte, the theme by the element. No file beside the module. */
const withoutStyleSheets: Plugin = {
  name: "without-style-sheets",
  enforce: "pre",
  load: (id) => (id.endsWith(".css") ? "" : null),
};

/** Svelte puts a component's style sheet into the module as it stands, comments, line breaks and all. */
const withDenseStyles: PreprocessorGroup = {
  style: ({ content }) => ({
    code: content
      .replace(/\/\*.*?\*\//gs, "")
      .replace(/\s+/g, " ")
      .replace(/ ?([{};,/>]) ?/g, "$1")
      .replaceAll(": ", ":")
      .replaceAll(";}", "}"),
  }),
};

/** Kinds of facts that the server makes for traces; those named after the page are about the server itself. */
function kindsInTraces(): ReadonlySet<string> {
  const files = TRACERS.flatMap((name) =>
    readdirSync(new URL(name, SERVER), { encoding: "utf8" }).map((file) => `${name}/${file}`),
  ).filter((path) => path.endsWith(".py"));
  const source = files.map((path) => readFileSync(new URL(path, SERVER), "utf8")).join("\n");
  const made = source.matchAll(/(?:\bfact\(|"kind":)\s*"([a-z0-9-]+)"|"(why-[a-z0-9-]+)"/g);
  const kinds = [...made].map(([, kind, reason]) => kind ?? reason ?? "");
  return new Set(kinds.filter((kind) => !kind.startsWith("page-")));
}

/** What to do about a problem is said where the program can be changed, which is not in the viewer. */
const ADVICE = /^(problem-\w.*?)^ {4}\.hint =.*\n(?: {5,}.*\n)*/ms;

/** The viewer carries only those messages of a catalogue that it can say: those that it names, and facts of traces. */
const withOwnMessages: Plugin = {
  name: "with-own-messages",
  enforce: "pre",
  load: (id) => (id.endsWith(".ftl?raw") ? `export default "@@${id.replace("?raw", "")}@@"` : null),
  generateBundle(_, bundle) {
    const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
    const written = chunks.map(({ code }) => code).join("\n");
    const inTraces = kindsInTraces();
    const isSaid = (message: string): boolean => {
      const [key = ""] = message.split(" ", 1);
      return inTraces.has(key) || new RegExp(`(["'\`])${key}\\1`).test(written);
    };
    const shortened = (path: string): string =>
      readFileSync(path, "utf8")
        .split(/^(?=[a-z])/m)
        .map((message) => message.replace(/^(#.*)?\n/gm, "").replace(ADVICE, "$1"))
        .filter(isSaid)
        .join("")
        .replace(/^ +/gm, " ")
        .replace(/^([a-z][\w-]*) = ?/gm, "$1=")
        .replace(/\{ (?=[$\w])|(?<=\w) (?=\})/g, (space) => space.trim());
    for (const chunk of chunks)
      chunk.code = chunk.code.replace(/(["'`])@@(.*?\.ftl)@@\1/g, (_text, _quote, path: string) =>
        JSON.stringify(shortened(path)),
      );
  },
};

/** Once more, by the minifier that looks across functions: 1 % less to send. */
const withTerser: Plugin = {
  name: "with-terser",
  async generateBundle(_, bundle) {
    for (const file of Object.values(bundle))
      if (file.type === "chunk") {
        const { code = file.code } = await minify(file.code, { module: true });
        file.code = code;
      }
  },
};

/** The server's V8 is given English as any other language: from the catalogue that the server reads itself. */
const withoutMessages: Plugin = {
  name: "without-messages",
  enforce: "pre",
  load: (id) => (id.endsWith("en.ftl?raw") ? 'export default globalThis.gradwalkEnglish ?? ""' : null),
};

/** The page fetches the typesetter by its name. */
const chunkFileNames = ({ name }: { name: string }): string =>
  name === "typesetter" ? "[name].js" : "chunks/[name]-[hash].js";

/** What is built in each mode; the first empties the folder. */
const BUILDS: Record<string, { lib: LibraryOptions }> = {
  production: { lib: { entry: { gradwalk: "src/embed/module.ts" }, formats: ["es"] } },
  layout: {
    lib: {
      entry: "src/layout/worker.ts",
      formats: ["iife"],
      name: "gradwalkLayout",
      fileName: () => "layout.js",
    },
  },
  bake: {
    lib: { entry: "src/embed/bake.ts", formats: ["iife"], name: "gradwalk", fileName: () => "bake.js" },
  },
  reveal: {
    lib: {
      entry: "src/embed/reveal.ts",
      formats: ["es", "umd"],
      name: "RevealGradwalk",
      fileName: (format) => (format === "es" ? "reveal.mjs" : "reveal.js"),
    },
  },
};

export default defineConfig(({ mode }) => {
  const build = BUILDS[mode];
  if (build === undefined) throw new Error(`no such part of the kit: ${mode}`);
  const isModule = mode === "production";
  return {
    publicDir: false,
    plugins: [
      svelte({ compilerOptions: { css: "injected" }, preprocess: [vitePreprocess(), withDenseStyles] }),
      withoutStyleSheets,
      ...(isModule ? [withOwnMessages, withTerser] : []),
      ...(mode === "bake" ? [withoutMessages] : []),
    ],
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      outDir: "../server/gradwalk/static/kit",
      emptyOutDir: isModule,
      target: "es2022",
      // Older targets have light-dark() rewritten so that a theme below the host element is lost.
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      minify: true,
      chunkSizeWarningLimit: 1200,
      lib: build.lib,
      license: { fileName: `licenses/${mode}.json` },
      rollupOptions: isModule
        ? {
            // What a later chunk shares with the module stays in the module, which needs no other file to start.
            preserveEntrySignatures: "allow-extension",
            // Vite leaves white space and notes for bundlers in modules of a library; here nobody bundles them again.
            output: {
              entryFileNames: "[name].js",
              chunkFileNames,
              minify: true,
              comments: { annotation: false },
            },
          }
        : {},
    },
  };
});
