import { expect, type Frame, type Page } from '@playwright/test';

/**
 * Nothing is wider than the page, no text is cut without an ellipsis that says so, and every control can be brought to
 * where a finger or a pointer reaches it.
 */
export async function fits(page: Page | Frame): Promise<void> {
  await expect.poll(() => page.evaluate(misfits)).toEqual([]);
}

/** Sentences about what does not fit, for who reads a failed test. */
function misfits(): string[] {
  const found: string[] = [];
  const root = document.documentElement;
  const width = root.clientWidth;
  const named = (element: Element) => element.outerHTML.replace(/\s+/g, ' ').slice(0, 120);
  if (root.scrollWidth > width) found.push(`the page scrolls sideways: ${root.scrollWidth} in ${width}`);

  const isShown = (element: Element) => {
    const { width: w, height: h } = element.getBoundingClientRect();
    // An element for screen readers alone is a pixel; an inert one is behind a dialog.
    if (w <= 1 || h <= 1 || element.closest('[inert], [aria-hidden="true"]') !== null) return false;
    return element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  };

  const modal = document.querySelector(
    'dialog[open], [role="dialog"][aria-modal="true"], [role="alertdialog"]',
  );
  const controls = (modal ?? document.body).querySelectorAll(
    'a[href]:not([href^="#main"]), button, input, textarea, select, [role="tab"], [role="switch"], [role="option"]',
  );
  for (const control of controls) {
    if (!isShown(control)) continue;
    control.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
    const { left, right, top, bottom } = control.getBoundingClientRect();
    if (left < -1 || right > width + 1) found.push(`beyond the side: ${named(control)}`);
    else if (top < -1 || bottom > window.innerHeight + 1) found.push(`out of reach: ${named(control)}`);
  }

  for (const element of (modal ?? document.body).querySelectorAll('*')) {
    if (!isShown(element) || element.matches('input, textarea')) continue;
    const ownText = [...element.childNodes].some(
      (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim() !== '',
    );
    if (!ownText) continue;
    const { overflowX, textOverflow } = getComputedStyle(element);
    const isWider = element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0;
    if (isWider && (overflowX === 'hidden' || overflowX === 'clip') && textOverflow !== 'ellipsis') {
      found.push(`a text is cut: ${named(element)}`);
    }
    const isClipped = element.closest('bdi, [class*="name"], [class*="preview"], [class*="detail"]') !== null;
    for (const node of element.childNodes) {
      if (isClipped || node.nodeType !== Node.TEXT_NODE) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const { left, right, width: textWidth } = range.getBoundingClientRect();
      if (textWidth > 1 && (left < -1 || right > width + 1)) {
        found.push(`a text runs off the side: ${named(element)}`);
      }
    }
  }
  return found;
}
