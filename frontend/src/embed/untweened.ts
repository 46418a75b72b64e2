/**
 * What d3-zoom imports of d3-transition and d3-interpolate and uses for transitions only. Here the camera moves by frames
 * of its own; so in the viewer this stands in the place of both packages, a twelfth of its size.
 */
import { selection } from "d3-selection";

export function interrupt(): void {}

export function interpolateZoom(): never {
  throw new Error("the camera moves without transitions");
}

Object.assign(selection.prototype, {
  interrupt(this: unknown) {
    return this;
  },
});
