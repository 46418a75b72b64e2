/** The chain on show, for what marks it in the graph: its player says which it is, wherever the marks are drawn. */
import { getContext, setContext } from "svelte";
import type { Chain } from "../model/chain";

type Shown = () => Chain | null;

const KEY = Symbol("chain on show");

export function offerChain(shown: Shown): void {
  setContext(KEY, shown);
}

export function chainOnShow(): Shown {
  return getContext<Shown | undefined>(KEY) ?? (() => null);
}
