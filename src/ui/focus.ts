/** Returns whether the focused element is gone: somebody who uses the keyboard would have to start over. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** Moves the focus to an element if it is lost. */
export function catchLostFocus(to: HTMLElement | null): void {
  if (isFocusLost()) to?.focus();
}

/** A ref callback for an element that replaces the focused one: takes over the focus. */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus();
}

/** A ref callback for an element that is said at once: on a small screen it may have come where nobody looks. */
export function bringIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'nearest' });
}
