import { afterEach, expect, test } from "vitest";
import { label } from "../words/say";
import { language, useLanguage } from "./language.svelte";

afterEach(() => useLanguage("en"));

test("the last choice wins, whichever catalogue comes first", async () => {
  const english = label("page-language");
  // English is always here, German has to be fetched.
  await Promise.all([useLanguage("de"), useLanguage("en")]);
  expect([language(), label("page-language")]).toEqual(["en", english]);
  await Promise.all([useLanguage("en"), useLanguage("de")]);
  expect([language(), label("page-language")]).toEqual(["de", "Sprache"]);
});
