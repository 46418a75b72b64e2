/** The languages that there is a catalogue for: one file each, fetched when it is spoken. */
const CATALOGUES = import.meta.glob<string>(
  ["../../../server/gradwalk/words/*.ftl", "!../../../server/gradwalk/words/en.ftl"],
  { query: "?raw", import: "default" },
);
const FETCHERS = new Map(
  Object.entries(CATALOGUES).map(([path, fetch]) => [
    path.slice(path.lastIndexOf("/") + 1, -".ftl".length),
    fetch,
  ]),
);

/** BCP 47 tags in the order of the alphabet. */
export const LANGUAGES: readonly string[] = ["en", ...FETCHERS.keys()].sort();

/** What a language calls itself. */
export function nameOf(language: string): string {
  return new Intl.DisplayNames(language, { type: "language" }).of(language) ?? language;
}

/** The first of the wanted languages that is there, whatever its region; else English. */
export function languageFor(wanted: readonly string[]): string {
  const tags = wanted.map((tag) => tag.toLowerCase().split("-")[0] ?? "");
  return tags.find((tag) => LANGUAGES.includes(tag)) ?? "en";
}

/** The text of a language's catalogue; null for English, which is always here. */
export async function fetchCatalogue(language: string): Promise<string | null> {
  return (await FETCHERS.get(language)?.()) ?? null;
}
