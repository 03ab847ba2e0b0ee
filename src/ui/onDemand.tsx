import { type ComponentType, useEffect, useState } from 'react';

/**
 * Code that is first wanted by what somebody does; null until then, and until it is there. What is shown meanwhile stays:
 * a Suspense fallback in its place would be kept for 300 ms. What could not be had goes to the error boundary.
 * @param load the same function from render to render
 */
export function useOnDemand<Code>(load: () => Promise<Code>, wanted: boolean): Code | null {
  const [code, setCode] = useState<Code | null>(null);
  useEffect(() => {
    if (!wanted || code !== null) return;
    load().then(
      (loaded) => setCode(() => loaded),
      (error: unknown) =>
        setCode(() => {
          throw error;
        }),
    );
  }, [load, wanted, code]);
  return code;
}

/** Something that shows nothing until it is first opened, so that its code can wait until then. */
export function onDemand<Props extends { open: boolean }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return function OnDemand(props: Props) {
    const Part = useOnDemand(load, props.open);
    return Part === null ? null : <Part {...props} />;
  };
}
