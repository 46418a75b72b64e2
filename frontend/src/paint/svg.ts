/** The display list as an SVG file. */
import type { Size } from "../layout/geometry";
import type { Letters, Run, Shape, Stroke } from "../scene/shapes";
import type { Palette } from "./palette";

/** Verdana is of the same widths, for systems without DejaVu. */
const FAMILIES = {
  sans: "DejaVu Sans, Verdana, sans-serif",
  mono: "DejaVu Sans Mono, Menlo, Consolas, monospace",
} as const;

export interface Sheet {
  readonly size: Size;
  readonly palette: Palette;
  readonly isTransparent: boolean;
  /** For assistive technology. */
  readonly title: string;
}

export function toSvg(shapes: readonly Shape[], { size, palette, isTransparent, title }: Sheet): string {
  const { width, height } = size;
  let clips = 0;
  const write = (shape: Shape): string => {
    if (shape.kind === "group") {
      const { at, clip, opacity, children } = shape;
      const inner = children.map(write).join("");
      const attributes = [
        at === undefined
          ? ""
          : ` transform="translate(${short(at.x)} ${short(at.y)})${at.k === 1 ? "" : ` scale(${at.k})`}"`,
        opacity === undefined ? "" : ` opacity="${short(opacity)}"`,
      ].join("");
      if (clip === undefined) return attributes === "" ? inner : `<g${attributes}>${inner}</g>`;
      clips += 1;
      const box = `<rect x="${short(clip.x)}" y="${short(clip.y)}" width="${short(clip.width)}" height="${short(clip.height)}"/>`;
      return `<g${attributes}><clipPath id="clip${clips}">${box}</clipPath><g clip-path="url(#clip${clips})">${inner}</g></g>`;
    }
    if (shape.kind === "text") {
      const { at, anchor, then = [] } = shape;
      const look = (run: Run): string => `${lettersOf(run)} fill="${palette(run.ink)}"`;
      const place = ` x="${short(at.x)}" y="${short(at.y)}"${anchor === undefined ? "" : ` text-anchor="${anchor}"`}`;
      if (then.length === 0) return `<text${place}${look(shape)}>${escaped(shape.text)}</text>`;
      const spans = [shape, ...then].map(
        (run) => `<tspan${run.gap ? ` dx="${short(run.gap)}"` : ""}${look(run)}>${escaped(run.text)}</tspan>`,
      );
      return `<text${place}>${spans.join("")}</text>`;
    }
    const paint = ` fill="${shape.fill === undefined ? "none" : palette(shape.fill)}"${lineOf(shape.stroke, palette)}`;
    if (shape.kind === "path") return `<path d="${shape.d}"${paint}/>`;
    const { x, y, width: across, height: down } = shape.box;
    const radius = shape.radius === undefined ? "" : ` rx="${short(shape.radius)}"`;
    return `<rect x="${short(x)}" y="${short(y)}" width="${short(across)}" height="${short(down)}"${radius}${paint}/>`;
  };
  const ground = isTransparent
    ? ""
    : `<rect width="${width}" height="${height}" fill="${palette("surface")}"/>`;
  const body = shapes.map(write).join("\n");
  return `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img"><title>${escaped(title)}</title>
${ground}${body}
</svg>
`;
}

function lettersOf({ face, size, bold }: Letters): string {
  return ` font-family="${FAMILIES[face]}" font-size="${short(size)}"${bold ? ' font-weight="bold"' : ""}`;
}

function lineOf(stroke: Stroke | undefined, palette: Palette): string {
  if (stroke === undefined) return "";
  const dash = stroke.dash === undefined ? "" : ` stroke-dasharray="${stroke.dash}"`;
  return ` stroke="${palette(stroke.ink)}" stroke-width="${short(stroke.width)}"${dash}`;
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

/** Controls, marks of direction and lone surrogates. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]/gu;
const MARKUP: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text from programs: what cannot be seen is written out, nothing is markup. */
function escaped(text: string): string {
  return text
    .replace(UNSEEN, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .replace(/[&<>"]/g, (character) => MARKUP[character] ?? "");
}
