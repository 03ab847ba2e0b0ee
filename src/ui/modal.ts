/** Whether something modal, such as a dialog, stands above an element, so that what is asked for there must not happen. */
export function isBehindModal(element: Element | null): boolean {
  return element === null || element.closest('[inert], [aria-hidden="true"]') !== null;
}
