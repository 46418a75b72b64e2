/** Not every browser has the first ways, and the engine that makes files has neither `atob` nor `btoa`. */
const IS_BUILT_IN = "fromBase64" in Uint8Array;

/** The bytes of a text in base64. */
export const bytesOf: (text: string) => Uint8Array<ArrayBuffer> = IS_BUILT_IN
  ? (
      Uint8Array as unknown as {
        fromBase64: (text: string) => Uint8Array<ArrayBuffer>;
      }
    ).fromBase64
  : (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));

/** Few bytes as a text in base64. */
export const base64Of: (bytes: Uint8Array) => string = IS_BUILT_IN
  ? (bytes) => (bytes as unknown as { toBase64: () => string }).toBase64()
  : (bytes) => btoa(String.fromCharCode(...bytes));
