/**
 * The lecture kit, into `static/kit/` under names that do not change: decks and notebooks link to them.
 * `--mode bake` builds the script that the server runs, everything else the module for browsers.
 */
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

/** Styles go into the shadow root: a component's own by Svelte, the theme by the element. No file beside the module. */
const withoutStyleSheets: Plugin = {
  name: "without-style-sheets",
  enforce: "pre",
  load: (id) => (id.endsWith(".css") ? "" : null),
};

export default defineConfig(({ mode }) => {
  const isBake = mode === "bake";
  return {
    publicDir: false,
    plugins: [svelte({ compilerOptions: { css: "injected" } }), withoutStyleSheets],
    define: { "process.env.NODE_ENV": '"production"' },
    build: {
      outDir: "../server/gradwalk/static/kit",
      emptyOutDir: !isBake,
      target: "es2022",
      // Older targets have light-dark() rewritten so that a theme below the host element is lost.
      cssTarget: ["chrome123", "firefox120", "safari17.5"],
      minify: true,
      chunkSizeWarningLimit: 1200,
      lib: isBake
        ? { entry: "src/embed/bake.ts", formats: ["iife"], name: "gradwalk", fileName: () => "bake.js" }
        : { entry: { gradwalk: "src/embed/module.ts" }, formats: ["es"] },
      rollupOptions: isBake
        ? {}
        : { output: { entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" } },
    },
    worker: { format: "es" },
  };
});
