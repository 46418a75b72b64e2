/** The language of this page; what is on show is said again when it changes. */
import { fetchCatalogue, languageFor } from "../words/languages";
import { onSay, speak } from "../words/say";

/** `auto`: the reader's own, where there is a catalogue for it. */
export type LanguageChoice = string;

let current = $state("en");
onSay(() => void current);

/** Speaks the language of the choice, as soon as its catalogue is there. */
export async function useLanguage(choice: LanguageChoice): Promise<void> {
  const language = choice === "auto" ? languageFor(navigator.languages) : languageFor([choice]);
  const catalogue = await fetchCatalogue(language);
  speak(language, catalogue);
  current = language;
}

/** BCP 47. */
export function language(): string {
  return current;
}
