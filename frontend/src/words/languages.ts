/** The languages that there is a catalogue for: one file each, fetched when it is spoken. */
const CATALOGUES = import.meta.glob<string>(
  ["../../../server/gradwalk/words/*.ftl", "!../../../server/gradwalk/words/en.ftl"],
  { query: "?raw", import: "default" },
);
let catalogues: ReadonlyMap<string, () => Promise<string>> = new Map(
  Object.entries(CATALOGUES).map(([path, fetch]) => [
    path.slice(path.lastIndexOf("/") + 1, -".ftl".length),
    fetch,
  ]),
);

/** BCP 47 tags in the order of the alphabet. */
export const LANGUAGES: readonly string[] = ["en", ...catalogues.keys()].sort();

/** What a language calls itself. */
export function nameOf(language: string): string {
  return new Intl.DisplayNames(language, { type: "language" }).of(language) ?? language;
}

/** From now on no catalogue is fetched: English and these, by their languages, are all that is spoken. */
export function speakOffline(carried: typeof catalogues): void {
  catalogues = carried;
}

/** Whether there is a catalogue for this language. */
export function isSpoken(language: string): boolean {
  return language === "en" || catalogues.has(language);
}

/** The first of the wanted languages that is there, whatever its region; else English. */
export function languageFor(wanted: readonly string[]): string {
  const tags = wanted.map((tag) => tag.toLowerCase().split("-")[0] ?? "");
  return tags.find(isSpoken) ?? "en";
}

/** The text of a language's catalogue; null for English, which is always here. */
export async function fetchCatalogue(language: string): Promise<string | null> {
  return (await catalogues.get(language)?.()) ?? null;
}
