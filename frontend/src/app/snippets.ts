/** What a lecturer pastes, host by host. */
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
  readonly name: string;
  /** A sentence for whoever chooses. */
  readonly about: string;
  readonly write: (shared: Shared) => string;
}

const HEIGHT_PX = 600;

export const SNIPPETS: readonly Snippet[] = [
  {
    id: "link",
    name: "Short link",
    about: "Kept on this server for ever; chat programs and wikis show its step as a picture.",
    write: pageLink,
  },
  {
    id: "hash",
    name: "Private link",
    about: "Holds the program itself; nothing of it reaches the server before it is opened.",
    write: ({ hashLink }) => hashLink,
  },
  {
    id: "iframe",
    name: "Web page: iframe",
    about: "Works in any page, also where scripts are not allowed.",
    write: (shared) => frame(shared, ""),
  },
  {
    id: "element",
    name: "Web page: element",
    about: "Part of the page itself; the picture is seen where no script runs.",
    write: (shared) => `${moduleScript(shared)}\n${element(shared)}`,
  },
  {
    id: "reveal",
    name: "reveal.js",
    about:
      "Every phase is a fragment: the deck's keys, speaker view and print view work. Load the script once per deck.",
    write: (shared) =>
      `<section>\n${element(shared)}\n</section>\n\n<script src="${shared.origin}/kit/reveal.js"></script>\n<!-- Reveal.initialize({ plugins: [RevealGradwalk] }) -->`,
  },
  {
    id: "reveal-frame",
    name: "Slides without a plugin",
    about: "An iframe that gives reveal.js its keys back at either end.",
    write: (shared) => frame(shared, "reveal"),
  },
  {
    id: "quarto",
    name: "Quarto",
    about: "Raw HTML in a page or a reveal.js presentation.",
    write: (shared) => `\`\`\`{=html}\n${moduleScript(shared)}\n${element(shared)}\n\`\`\``,
  },
  {
    id: "notion",
    name: "Notion and other pages that embed links",
    about: "Paste the link alone: the page asks for the frame by itself (oEmbed).",
    write: pageLink,
  },
  {
    id: "lti",
    name: "Canvas, Moodle and other LMS",
    about:
      "In the editor's HTML view; the frame asks for the height it needs (lti.frameResize) and sets no cookie.",
    write: (shared) => frame(shared, ""),
  },
  {
    id: "markdown",
    name: "Markdown picture",
    about: "The step as a picture that leads to the page.",
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
