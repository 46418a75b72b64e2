import type { Attachment } from "svelte/attachments";

/**
 * Tells the inner size of an element, in px, whenever a frame has been laid out and it is another. `bind:clientHeight`
 * also asks as soon as the element is there, which is a layout of the whole page in the middle of a step.
 */
export function sized(onsize: (width: number, height: number) => void): Attachment {
  return (element) => {
    const observer = new ResizeObserver(() => onsize(element.clientWidth, element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  };
}
