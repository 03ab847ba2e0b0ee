import { type ComponentType, Suspense } from 'react';
import { chunk, useAskedFor } from './chunk.tsx';

/** Something that shows nothing until it is first opened, so that its code can wait until then. */
export function onDemand<Props extends { open: boolean }>(
  importIt: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  const code = chunk(importIt);
  const Loaded = code.component((part) => part);
  return function OnDemand(props: Props) {
    if (!useAskedFor(code, props.open)) return null;
    return (
      <Suspense>
        <Loaded {...props} />
      </Suspense>
    );
  };
}
