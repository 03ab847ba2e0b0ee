import { type ComponentType, useEffect, useState } from 'react';

/** Code that is there is drawn at once by whoever wants it next. */
const loadedBy = new WeakMap<() => Promise<unknown>, unknown>();

/**
 * Loads code once it is wanted; null until it is there. Meanwhile the screen stays as it is: React would keep a
 * Suspense fallback for 300 ms. A failed load throws to the error boundary.
 * @param load the same function from render to render
 */
export function useOnDemand<Code>(load: () => Promise<Code>, wanted: boolean): Code | null {
  const [code, setCode] = useState<Code | null>(() =>
    wanted ? ((loadedBy.get(load) as Code | undefined) ?? null) : null,
  );
  useEffect(() => {
    if (!wanted || code !== null) return;
    load().then(
      (loaded) => {
        loadedBy.set(load, loaded);
        return setCode(() => loaded);
      },
      (error: unknown) =>
        setCode(() => {
          throw error;
        }),
    );
  }, [load, wanted, code]);
  return code;
}

/** Wraps a component that shows nothing until it is first opened, and loads its code only then. */
export function onDemand<Props extends { open: boolean }>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return function OnDemand(props: Props) {
    const Part = useOnDemand(load, props.open);
    return Part === null ? null : <Part {...props} />;
  };
}
