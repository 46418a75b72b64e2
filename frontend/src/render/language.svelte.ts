/** The language of this page; what is on show is said again when it changes. */
import { fetchCatalogue, languageFor } from "../words/languages";
import { onSay, speak } from "../words/say";

let current = $state("en");
let choices = 0;
onSay(() => void current);

/**
 * Speaks the language of the choice as soon as its catalogue is there, unless another was chosen meanwhile. Where the
 * catalogue cannot be fetched, the page goes on in the language that it speaks: English at first.
 * @param choice a BCP 47 tag, or `auto`: the reader's own, where there is a catalogue for it
 */
export async function useLanguage(choice: string): Promise<void> {
  choices += 1;
  const turn = choices;
  const language = choice === "auto" ? languageFor(navigator.languages) : languageFor([choice]);
  const catalogue = await fetchCatalogue(language).catch(() => undefined);
  if (catalogue === undefined || turn !== choices) return;
  speak(language, catalogue);
  current = language;
}

/** BCP 47. */
export function language(): string {
  return current;
}
