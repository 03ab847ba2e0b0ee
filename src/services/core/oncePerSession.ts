/**
 * Makes a part of a session once, whose code is loaded when it is first asked for: the same part for the same options, so that
 * code that could not be loaded is asked for again the next time.
 */
export function oncePerSession<Options extends object, Part>(
  create: (options: Options) => Part,
): (options: Options) => Part {
  const parts = new WeakMap<Options, Part>();
  return (options) => {
    const part = parts.get(options) ?? create(options);
    parts.set(options, part);
    return part;
  };
}
