import { vi } from 'vitest';

/** Lets media queries of the form `(min-width: …rem)` find a window of this many pixels, until mocks are restored. */
export function setWindowWidth(width: number): void {
  vi.spyOn(window, 'matchMedia').mockImplementation((query) => {
    const minimum = Number(/min-width: ([\d.]+)rem/.exec(query)?.[1] ?? 0) * 16;
    return Object.assign(new EventTarget(), {
      matches: width >= minimum,
      media: query,
      onchange: null,
      addListener: () => undefined,
      removeListener: () => undefined,
    });
  });
}
