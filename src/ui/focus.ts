/** Whether the focus went with what it was on: somebody who uses the keyboard would have to start over. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** Moves the focus there if it is lost. */
export function catchLostFocus(to: HTMLElement | null): void {
  if (isFocusLost()) to?.focus();
}

/** As a ref: what appears in the place of what had the focus takes it over. */
export function focusOnMount(element: HTMLElement | null): void {
  element?.focus();
}
