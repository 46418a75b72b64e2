/** What is worked out once for an object, and kept for as long as it lives. */
export function once<Of extends object, Made>(work: (of: Of) => Made): (of: Of) => Made {
  return onceFor((of: Of) => of, work);
}

/** The same where that object is a part of what is given, and the result depends on nothing else. */
export function onceFor<Given extends readonly unknown[], Made>(
  part: (...given: Given) => object,
  work: (...given: Given) => Made,
): (...given: Given) => Made {
  const known = new WeakMap<object, Made>();
  return (...given) => {
    const of = part(...given);
    if (!known.has(of)) known.set(of, work(...given));
    return known.get(of) as Made;
  };
}
