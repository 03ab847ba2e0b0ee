/** Returns whether a modal element, such as a dialog, covers another one, whose shortcuts must then do nothing. */
export function isBehindModal(element: Element | null): boolean {
  return element === null || element.closest('[inert], [aria-hidden="true"]') !== null;
}
