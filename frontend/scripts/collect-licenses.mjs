// The licences of everything that is shipped and not ours, in one file: `static/third-party-licenses.txt`. Packages are
// those that Vite noted of each build; what is in no package follows.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";

const STATIC = new URL("../../server/gradwalk/static/", import.meta.url);
const NOTES = [new URL("licenses/", STATIC), new URL("kit/licenses/", STATIC)];
const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8").trim();

const OTHERS = {
  "Graphviz, compiled to WebAssembly in @hpcc-js/wasm-graphviz": `Eclipse Public License, https://graphviz.org/license/
Its source is at https://gitlab.com/graphviz/graphviz, that of the build at https://github.com/hpcc-systems/hpcc-js-wasm.`,
  "Noto Sans Math, a part without hints (OFL-1.1)": read("../fonts/LICENSE"),
  "DejaVu, a part without hints": read("../../server/gradwalk/exports/fonts/LICENSE"),
  "PyTorch, the lines of its derivatives.yaml (BSD-3-Clause)": read(
    "../../server/gradwalk/formulas/LICENSE.pytorch",
  ),
};

const packages = new Map();
for (const folder of NOTES) {
  for (const build of readdirSync(folder))
    for (const each of JSON.parse(readFileSync(new URL(build, folder), "utf8")))
      packages.set(each.name, each);
  rmSync(folder, { recursive: true });
}
const sections = [...packages.values()]
  .sort((a, b) => (a.name < b.name ? -1 : 1))
  .map(({ name, version, identifier, text }) => [
    `${name} ${version}${identifier ? ` (${identifier})` : ""}`,
    text?.trim() ?? `The package brings no text of it: https://spdx.org/licenses/${identifier}.html`,
  ]);
const written = [...sections, ...Object.entries(OTHERS)].map(
  ([title, text]) => `${title}\n${"-".repeat(title.length)}\n${text}\n`,
);
writeFileSync(new URL("third-party-licenses.txt", STATIC), written.join("\n\n"));
