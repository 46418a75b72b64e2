import { afterEach, expect, test, vi } from "vitest";
import { label } from "../words/say";
import { language, useLanguage } from "./language.svelte";

afterEach(async () => {
  vi.doUnmock("../words/languages");
  vi.resetModules();
  await useLanguage("en");
});

test("the last choice wins, whichever catalogue comes first", async () => {
  const english = label("page-language");
  // English is always here, German has to be fetched.
  await Promise.all([useLanguage("de"), useLanguage("en")]);
  expect([language(), label("page-language")]).toEqual(["en", english]);
  await Promise.all([useLanguage("en"), useLanguage("de")]);
  expect([language(), label("page-language")]).toEqual(["de", "Sprache"]);
});

test("a catalogue that cannot be fetched leaves English", async () => {
  vi.resetModules();
  vi.doMock("../words/languages", async (original) => ({
    ...(await original<typeof import("../words/languages")>()),
    fetchCatalogue: () => Promise.reject(new TypeError("Failed to fetch dynamically imported module")),
  }));
  const page = await import("./language.svelte");
  await page.useLanguage("de");
  expect(page.language()).toBe("en");
});
