/** Text in a link: deflate-raw in base64url. */

/** More text than any program the server accepts; a link cannot make the page inflate without end. */
const MAX_SOURCE_CHARACTERS = 1_000_000;

/** Short enough for an address. */
export async function deflate(text: string): Promise<string> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Null for what is not a packed text, or inflates without end. */
export async function inflate(packed: string): Promise<string | null> {
  try {
    const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const reader = stream.pipeThrough(new TextDecoderStream("utf-8", { fatal: true })).getReader();
    let text = "";
    for (;;) {
      const chunk = await reader.read();
      if (chunk.done) return text;
      text += chunk.value;
      if (text.length > MAX_SOURCE_CHARACTERS) {
        await reader.cancel();
        return null;
      }
    }
  } catch {
    return null;
  }
}
