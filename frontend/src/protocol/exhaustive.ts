/** Ends a switch over a union: a case that nobody handled does not compile, and names itself at run time. */
export function assertNever(value: never): never {
  throw new Error(`not handled: ${JSON.stringify(value)}`);
}
