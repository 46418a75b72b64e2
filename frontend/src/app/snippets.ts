/** What a lecturer pastes, host by host. */
import type { PlainKey } from "../words/say";

export interface Shared {
  readonly origin: string;
  readonly snippet: string;
  /** `7.3`, empty for the start. */
  readonly place: string;
  readonly hidden: readonly string[];
  readonly keys: boolean;
  /** `dark` and so on; empty: as each viewer's own device has it. */
  readonly theme: string;
  /** Viewers may run it with other inputs. */
  readonly inputs: boolean;
  readonly title: string;
  /** The link that holds everything itself. */
  readonly hashLink: string;
}

const HEIGHT_PX = 600;

/** By host, in the order in which they are to be chosen from: its name, a sentence for whoever chooses, what is pasted. */
export const SNIPPETS = {
  link: ["page-snippet-link", "page-snippet-link-about", pageLink],
  hash: ["page-snippet-hash", "page-snippet-hash-about", ({ hashLink }) => hashLink],
  iframe: ["page-snippet-iframe", "page-snippet-iframe-about", (shared) => frame(shared, "")],
  element: [
    "page-snippet-element",
    "page-snippet-element-about",
    (shared) => `${moduleScript(shared)}\n${element(shared)}`,
  ],
  reveal: [
    "page-snippet-reveal",
    "page-snippet-reveal-about",
    (shared) =>
      `<section>\n${element(shared)}\n</section>\n\n<script src="${shared.origin}/kit/reveal.js"></script>\n<!-- Reveal.initialize({ plugins: [RevealGradwalk] }) -->`,
  ],
  "reveal-frame": [
    "page-snippet-reveal-frame",
    "page-snippet-reveal-frame-about",
    (shared) => frame(shared, "reveal"),
  ],
  quarto: [
    "page-snippet-quarto",
    "page-snippet-quarto-about",
    (shared) => `\`\`\`{=html}\n${moduleScript(shared)}\n${element(shared)}\n\`\`\``,
  ],
  notion: ["page-snippet-notion", "page-snippet-notion-about", pageLink],
  lti: ["page-snippet-lti", "page-snippet-lti-about", (shared) => frame(shared, "")],
  markdown: [
    "page-snippet-markdown",
    "page-snippet-markdown-about",
    (shared) =>
      `[![${shared.title.replaceAll(/[[\]]/g, "")}](${shared.origin}/t/${shared.snippet}/preview.png${at(shared)})](${pageLink(shared)})`,
  ],
} as const satisfies Record<
  string,
  readonly [name: PlainKey, about: PlainKey, write: (shared: Shared) => string]
>;

export type Host = keyof typeof SNIPPETS;

/** The address of the frame, with what viewers are to see. */
export function embedLink(shared: Shared, deck = ""): string {
  const query = new URLSearchParams();
  if (shared.place !== "") query.set("s", shared.place);
  if (shared.hidden.length > 0) query.set("hide", shared.hidden.join(","));
  if (!shared.keys) query.set("keys", "off");
  if (shared.inputs) query.set("inputs", "on");
  if (shared.theme !== "") query.set("theme", shared.theme);
  if (deck !== "") query.set("deck", deck);
  return `${shared.origin}/embed/${shared.snippet}${query.size > 0 ? `?${query}` : ""}`;
}

function pageLink(shared: Shared): string {
  return `${shared.origin}/t/${shared.snippet}${at(shared)}`;
}

function at({ place }: Shared): string {
  return place === "" ? "" : `?s=${place}`;
}

function frame(shared: Shared, deck: string): string {
  return `<iframe src="${quoted(embedLink(shared, deck))}" title="${quoted(shared.title)}" width="100%" height="${HEIGHT_PX}" loading="lazy" allow="fullscreen; clipboard-write" allowfullscreen style="border: 0"></iframe>`;
}

function moduleScript({ origin }: Shared): string {
  return `<script type="module" src="${origin}/kit/gradwalk.js"></script>`;
}

function element(shared: Shared): string {
  const { origin, snippet, place, hidden, keys, inputs, theme, title } = shared;
  const attributes = [
    `src="${origin}/embed/${snippet}/trace.json"`,
    place === "" ? "" : `step="${place}"`,
    `heading="${quoted(title)}"`,
    hidden.length === 0 ? "" : `hide="${hidden.join(",")}"`,
    keys ? "" : 'keys="off"',
    inputs ? 'inputs="on"' : "",
    theme === "" ? "" : `theme="${theme}"`,
  ];
  const picture = `${origin}/t/${snippet}/preview.png${at(shared)}`;
  return `<grad-walk ${attributes.filter((each) => each !== "").join(" ")} style="display:block; height: ${HEIGHT_PX}px">\n  <img src="${picture}" alt="${quoted(title)}" style="max-width: 100%">\n</grad-walk>`;
}

function quoted(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
