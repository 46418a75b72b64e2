/**
 * The lecture kit, into `static/kit/` under names that do not change: decks and notebooks link to them.
 * Without a mode the module for browsers, `--mode bake` the script that the server runs, `--mode reveal` the plugin.
 */
import { readFile } from "node:fs/promises";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type LibraryOptions, type Plugin } from "vite";

/** Styles go into the shadow root: a component's own by Svelte, the theme by the element. No file beside the module. */
const withoutStyleSheets: Plugin = {
  name: "without-style-sheets",
  enforce: "pre",
  load: (id) => (id.endsWith(".css") ? "" : null),
};

/** What only the page and Python say: sections of the catalogues, under the same headings in every language. */
const ELSEWHERE = ["Problems of the server and of requests", "Examples", "The command line"];

/** A viewer says none of that; what a server refuses it says in the server's own sentence. */
const withoutSectionsOfOthers: Plugin = {
  name: "without-sections-of-others",
  enforce: "pre",
  async load(id) {
    if (!id.endsWith(".ftl?raw")) return null;
    const sections = (await readFile(id.slice(0, -"?raw".length), "utf-8")).split(/^(?=## )/m);
    const kept = sections.filter((section) => !ELSEWHERE.some((name) => section.startsWith(`## ${name}\n`)));
    return `export default ${JSON.stringify(kept.join(""))}`;
  },
};

/** What is built in each mode; the first empties the folder. */
const BUILDS: Record<string, { lib: LibraryOptions }> = {
  production: { lib: { entry: { gradwalk: "src/embed/module.ts" }, formats: ["es"] } },
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
      svelte({ compilerOptions: { css: "injected" } }),
      withoutStyleSheets,
      // The server has everything said by this script.
      ...(mode === "bake" ? [] : [withoutSectionsOfOthers]),
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
      rollupOptions: isModule
        ? {
            // What a later chunk shares with the module stays in the module, which needs no other file to start.
            preserveEntrySignatures: "allow-extension",
            // Vite leaves white space in modules of a library; here nobody bundles them again.
            output: { entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js", minify: true },
          }
        : {},
    },
    worker: { format: "es" },
  };
});
