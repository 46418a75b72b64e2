/** How wide text is in the fonts that page and files share, so that a picture is laid out without being measured. */
import type { Letters } from "./shapes";

/** Of DejaVu Sans and DejaVu Sans Bold, from the space to the tilde, in hundredths of the size. */
const PLAIN = widths(
  "32 40 46 84 64 95 78 27 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53 100 68 69 70 77 63 58 77 75 29 29 66 56 86 75 79 60 79 69 63 61 73 68 99 69 61 69 39 34 39 84 50 50 61 63 55 63 62 35 63 63 28 28 58 28 97 63 61 63 63 41 52 39 63 59 82 59 59 52 64 34 64 84",
);
const BOLD = widths(
  "35 46 52 84 70 100 87 31 46 46 52 84 38 42 38 37 70 70 70 70 70 70 70 70 70 70 40 40 84 84 84 58 100 77 76 73 83 68 68 82 84 37 37 77 64 100 84 85 73 85 77 72 68 81 77 110 77 72 73 46 37 46 84 50 50 67 72 59 72 68 44 72 71 34 34 67 34 104 71 69 72 72 49 60 48 71 65 92 65 65 58 71 37 71 84",
);
const MONO = 0.602;
/** Of what these fonts do not have, and most that is no letter of English. */
const OTHER = 0.84;
const WIDE = 1;
const FIRST = 32;
const IS_WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/;

const IS_NUMBER = /^[-−\d.]*$/;

function widths(hundredths: string): readonly number[] {
  return hundredths.split(" ").map((width) => Number(width) / 100);
}

export function widthOf(text: string, { size, face, bold }: Letters): number {
  // A number: there are hundreds in a table.
  if (face === "mono" && IS_NUMBER.test(text)) return text.length * MONO * size;
  const table = bold ? BOLD : PLAIN;
  let width = 0;
  for (const character of text) {
    if (IS_WIDE.test(character)) width += WIDE;
    else width += face === "mono" ? MONO : (table[(character.codePointAt(0) ?? 0) - FIRST] ?? OTHER);
  }
  return width * size;
}

/** The text, or as much of it as has room; nothing where not even one letter has. */
export function cut(text: string, letters: Letters, room: number): string {
  if (widthOf(text, letters) <= room) return text;
  const kept = [...text];
  while (kept.length > 0 && widthOf(`${kept.join("")}…`, letters) > room) kept.pop();
  return kept.length === 0 ? "" : `${kept.join("")}…`;
}

/** In lines of at most this width; a word that is wider is broken. */
export function wrapped(text: string, letters: Letters, room: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/ +/)) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (widthOf(longer, letters) <= room) line = longer;
    else {
      if (line !== "") lines.push(line);
      line = word;
      while (widthOf(line, letters) > room) {
        let fits = 1;
        const characters = [...line];
        while (widthOf(characters.slice(0, fits + 1).join(""), letters) <= room) fits += 1;
        lines.push(characters.slice(0, fits).join(""));
        line = characters.slice(fits).join("");
      }
    }
  }
  return line === "" ? lines : [...lines, line];
}
