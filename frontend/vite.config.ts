import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

const API = process.env.GRADWALK_API ?? "http://127.0.0.1:8000";

/** Temml is a file of the kit, as Graphviz is. */
const typesetterOfKit: Plugin = {
  name: "typesetter-of-kit",
  apply: "build",
  enforce: "pre",
  resolveId: (id) => (id === "./typesetter" ? { id: "/kit/typesetter.js", external: "absolute" } : null),
};

export default defineConfig({
  plugins: [svelte(), typesetterOfKit],
  build: {
    outDir: "../server/gradwalk/static",
    emptyOutDir: true,
    target: "es2022",
    // The page's Content-Security-Policy has no inline scripts, and a preload polyfill would be one.
    modulePreload: { polyfill: false },
    // Every file named by its content, so that the server may call it immutable.
    assetsDir: "assets",
    license: { fileName: "licenses/page.json" },
    chunkSizeWarningLimit: 1200,
  },
  // The catalogue of sentences is in the server's package, which carries it.
  server: { proxy: { "/api": API, "/readyz": API }, fs: { allow: [".", "../server/gradwalk/words"] } },
  // Properties over a thousand states take seconds on a busy machine.
  test: {
    include: ["src/**/*.test.ts"],
    setupFiles: ["scripts/reproducible-properties.mjs"],
    environment: "node",
    // No test leaves anything behind that another one sees; modules are then loaded once per thread and not per file.
    isolate: false,
    pool: "threads",
    testTimeout: 600_000,
    // Read as text: the palette of files.
    css: true,
  },
});
