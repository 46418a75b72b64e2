const MARGIN_PX = 8;

/**
 * Brings what has just appeared into view by the scroll bar of the equation round it. `scrollIntoView` would move the
 * page round the player, too, which may be a slide.
 */
export function bringIntoView(element: Element): void {
  for (let box = element.parentElement; box !== null && !box.matches(".stage"); box = box.parentElement) {
    if (box.scrollHeight <= box.clientHeight) continue;
    const [inner, outer] = [element.getBoundingClientRect(), box.getBoundingClientRect()];
    const below = inner.bottom + MARGIN_PX - outer.bottom;
    if (below > 0) box.scrollTop += Math.min(below, inner.top - outer.top);
    return;
  }
}
