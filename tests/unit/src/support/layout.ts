/**
 * happy-dom lays nothing out. What draws only what is in sight needs sizes, so here every element is as large as the
 * window, every row is of one height, and what scrolls is as long as the lists in it say.
 */
export const rowHeight = 44;
export const viewHeight = 768;

function scrollLength(element: Element): number {
  const lists = [...element.querySelectorAll<HTMLElement>('ul[style], ol[style]')];
  return Math.max(viewHeight, ...lists.map(({ style }) => Number.parseFloat(style.height) || 0));
}

/** All stand at the top of what they scroll with. */
function topOf(element: Element): number {
  const { parentElement } = element;
  return parentElement === null ? 0 : topOf(parentElement) - parentElement.scrollTop;
}

export function layOut(): void {
  const sizes = { clientHeight: viewHeight, clientWidth: 1024, offsetHeight: rowHeight };
  for (const [name, value] of Object.entries(sizes)) {
    Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get: () => value });
  }
  Object.defineProperty(Element.prototype, 'scrollHeight', {
    configurable: true,
    get(this: Element) {
      return scrollLength(this);
    },
  });
  Element.prototype.getBoundingClientRect = function getBoundingClientRect() {
    return new DOMRect(0, topOf(this), 1024, rowHeight);
  };
  Element.prototype.scrollTo = function scrollTo(to?: ScrollToOptions | number, top?: number) {
    const wanted = (typeof to === 'object' ? to.top : top) ?? this.scrollTop;
    const reached = Math.min(Math.max(wanted, 0), this.scrollHeight - this.clientHeight);
    if (reached === this.scrollTop) return;
    this.scrollTop = reached;
    this.dispatchEvent(new Event('scroll'));
  };
}
