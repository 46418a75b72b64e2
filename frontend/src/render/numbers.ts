/** What shows all numbers of a value; only where somebody can get them. */
import { createContext } from "svelte";
import type { TensorValue } from "../protocol/trace.gen";

export type ShowNumbers = (name: string, value: TensorValue) => void;

const [read, offerNumbers, isOffered] = createContext<ShowNumbers>();

export { offerNumbers };

export function numbersOffered(): ShowNumbers | null {
  return isOffered() ? read() : null;
}
