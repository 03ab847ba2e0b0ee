import { type ComponentType, lazy, useState } from 'react';

/** How long a failure stays: React draws again before it tells of one, and that must not ask again. */
export const failureLasts = 1_000;

export interface Chunk<Module> {
  readonly load: () => Promise<Module>;
  /**
   * A component of it, to be drawn under a Suspense boundary as long as the chunk isn't there. Where it could not be had,
   * an error boundary that is tried again asks for it again.
   */
  readonly component: <Props extends object>(
    pick: (module: Module) => ComponentType<Props>,
  ) => ComponentType<Props>;
}

/**
 * Code that is loaded as one file. Once that is there its components are drawn at once: lazy() would show the fallback
 * of its boundary for a moment all the same, and React keeps one that it has shown for 300 ms.
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
