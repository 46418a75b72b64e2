/**
 * The one module for every host, served as `/kit/gradwalk.js`: importing it defines `<grad-walk>`, and its default
 * export is the notebook widget in the shape of anywidget's front-end modules. The widget's model holds `trace` (a trace
 * document as an object or JSON text) or `src`, any setting of the element as text, and `step`, which follows the walk.
 */
import { layOutWith } from "../layout/client";
import { defineElement, type GradWalkElement, TAG } from "./element";
import { SETTING_NAMES } from "./settings";

interface Model {
  get: (name: string) => unknown;
  set?: (name: string, value: unknown) => void;
  save_changes?: () => void;
  on?: (event: string, callback: () => void) => void;
  off?: (event: string, callback: () => void) => void;
}

const ATTRIBUTES = ["offline", "src", ...SETTING_NAMES];

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const element = document.createElement(TAG) as GradWalkElement;
  const height = model.get("height");
  if (typeof height === "number" || typeof height === "string") {
    element.style.height = typeof height === "number" ? `${height}px` : height;
  }
  const takeAttribute = (name: string): void => {
    const value = model.get(name);
    if (value === undefined || value === null || value === false) element.removeAttribute(name);
    else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, String(value));
  };
  const takeTrace = (): void => {
    const trace = model.get("trace");
    if (trace !== undefined && trace !== null) element.trace = trace;
  };
  const heard: [string, () => void][] = [
    ["change:trace", takeTrace],
    ...ATTRIBUTES.map((name): [string, () => void] => [`change:${name}`, () => takeAttribute(name)]),
  ];
  for (const name of ATTRIBUTES) takeAttribute(name);
  takeTrace();
  for (const [event, callback] of heard) model.on?.(event, callback);
  element.addEventListener("gradwalk-step", (event) => {
    const { place } = (event as CustomEvent<{ place: string }>).detail;
    if (model.get("step") === place) return;
    model.set?.("step", place);
    model.save_changes?.();
  });
  el.append(element);
  return () => {
    for (const [event, callback] of heard) model.off?.(event, callback);
    element.remove();
  };
}

layOutWith("layout.js", import.meta.url);
defineElement();

export default { render };
