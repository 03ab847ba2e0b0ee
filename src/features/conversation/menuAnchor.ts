/** The place at which something opens: a control, or the pointer. */
export type MenuAnchor = Element | { getBoundingClientRect(): DOMRect };

export interface Point {
  readonly clientX: number;
  readonly clientY: number;
}

export function pointAnchor({ clientX, clientY }: Point): MenuAnchor {
  return { getBoundingClientRect: () => new DOMRect(clientX, clientY, 0, 0) };
}
