// The letters of pictures, for the server: `static/fonts/`, where exports/image.py finds them.
import { copyFileSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

const FACES = ["DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono", "DejaVuSansMono-Bold"];
const from = new URL("../node_modules/dejavu-fonts-ttf/", import.meta.url);
const to = new URL("../../server/gradwalk/static/fonts/", import.meta.url);

mkdirSync(to, { recursive: true });
for (const path of ["LICENSE", ...FACES.map((face) => `ttf/${face}.ttf`)]) {
  copyFileSync(fileURLToPath(new URL(path, from)), fileURLToPath(new URL(path.replace("ttf/", ""), to)));
}
