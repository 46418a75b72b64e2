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

export interface Snippet {
  readonly id: string;
  readonly name: PlainKey;
  /** A sentence for whoever chooses. */
  readonly about: PlainKey;
  readonly write: (shared: Shared) => string;
}

const HEIGHT_PX = 600;

export const SNIPPETS: readonly Snippet[] = [
  {
    id: "link",
    name: "page-snippet-link",
    about: "page-snippet-link-about",
    write: pageLink,
  },
  {
    id: "hash",
    name: "page-snippet-hash",
    about: "page-snippet-hash-about",
    write: ({ hashLink }) => hashLink,
  },
  {
    id: "iframe",
    name: "page-snippet-iframe",
    about: "page-snippet-iframe-about",
    write: (shared) => frame(shared, ""),
  },
  {
    id: "element",
    name: "page-snippet-element",
    about: "page-snippet-element-about",
    write: (shared) => `${moduleScript(shared)}\n${element(shared)}`,
  },
  {
    id: "reveal",
    name: "page-snippet-reveal",
    about: "page-snippet-reveal-about",
    write: (shared) =>
      `<section>\n${element(shared)}\n</section>\n\n<script src="${shared.origin}/kit/reveal.js"></script>\n<!-- Reveal.initialize({ plugins: [RevealGradwalk] }) -->`,
  },
  {
    id: "reveal-frame",
    name: "page-snippet-reveal-frame",
    about: "page-snippet-reveal-frame-about",
    write: (shared) => frame(shared, "reveal"),
  },
  {
    id: "quarto",
    name: "page-snippet-quarto",
    about: "page-snippet-quarto-about",
    write: (shared) => `\`\`\`{=html}\n${moduleScript(shared)}\n${element(shared)}\n\`\`\``,
  },
  {
    id: "notion",
    name: "page-snippet-notion",
    about: "page-snippet-notion-about",
    write: pageLink,
  },
  {
    id: "lti",
    name: "page-snippet-lti",
    about: "page-snippet-lti-about",
    write: (shared) => frame(shared, ""),
  },
  {
    id: "markdown",
    name: "page-snippet-markdown",
    about: "page-snippet-markdown-about",
    write: (shared) =>
      `[![${shared.title.replaceAll(/[[\]]/g, "")}](${shared.origin}/t/${shared.snippet}/preview.png${at(shared)})](${pageLink(shared)})`,
  },
];

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
  return `<grad-walk ${attributes.filter((each) => each !== "").join(" ")} style="height: ${HEIGHT_PX}px">\n  <img src="${picture}" alt="${quoted(title)}">\n</grad-walk>`;
}

function quoted(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll('"', "&quot;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
