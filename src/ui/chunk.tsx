import { type ComponentType, lazy, useState } from 'react';

/** Milliseconds that a failure stays: React draws again before it reports one, and that must not load again. */
export const failureLasts = 1_000;

export interface Chunk<Module> {
  readonly load: () => Promise<Module>;
  /**
   * Returns a component of the chunk. Draw it under a Suspense boundary, which waits for the chunk, and an error
   * boundary, which catches a failed load; resetting that loads the chunk again.
   */
  readonly component: <Props extends object>(
    pick: (module: Module) => ComponentType<Props>,
  ) => ComponentType<Props>;
}

/**
 * Code that is loaded as one file. Once that is there its components are drawn at once: lazy() would still show the
 * fallback of its boundary for a moment, and React keeps a fallback that it has shown for 300 ms.
 */
export function chunk<Module>(importIt: () => Promise<Module>): Chunk<Module> {
  let loaded: Module | null = null;

  async function load(): Promise<Module> {
    loaded = await importIt();
    return loaded;
  }

  return {
    load,
    component(pick) {
      const later = () =>
        lazy(async () => {
          try {
            return { default: pick(await load()) };
          } catch (error) {
            setTimeout(() => {
              Later = later();
            }, failureLasts);
            throw error;
          }
        });
      let Later = later();
      return function OfChunk(props) {
        const [Part] = useState(() => (loaded === null ? Later : pick(loaded)));
        return <Part {...props} />;
      };
    },
  };
}
