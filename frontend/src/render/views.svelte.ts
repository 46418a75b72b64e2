/** Which view of a product is wanted: one choice for everything below the component that holds it. */
import { getContext, setContext } from "svelte";
import type { View } from "../scene/views";

export interface ProductView {
  /** Null: the most readable one of each step. */
  readonly view: View | null;
  choose(view: View): void;
}

const KEY = Symbol("view of a product");

/** @param given what the address says; a choice made on the page goes before it until it changes */
export function holdProductView(given: () => View | null, onchoose: (view: View) => void): void {
  let own = $state<View | null>(null);
  $effect.pre(() => {
    own = given();
  });
  setContext<ProductView>(KEY, {
    get view() {
      return own;
    },
    choose(view) {
      own = view;
      onchoose(view);
    },
  });
}

/** Where nobody holds one, as in a picture, a component's own. */
export function productView(): ProductView {
  return getContext<ProductView | undefined>(KEY) ?? new OwnView();
}

class OwnView implements ProductView {
  view = $state<View | null>(null);
  choose = (view: View): void => {
    this.view = view;
  };
}
