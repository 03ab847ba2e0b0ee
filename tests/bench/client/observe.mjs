/**
 * Runs in every page before its own scripts (it is passed as a function, so it must stand alone): notes when things
 * were painted, and what kept the page's thread busy.
 */
export function observe() {
  const notes = { longTasks: [], inputs: [] };
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) notes.longTasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
  new PerformanceObserver((list) => {
    for (const { name, duration, startTime } of list.getEntries()) {
      if (name === 'keydown' || name === 'keypress' || name === 'beforeinput')
        notes.inputs.push({ startTime, duration });
    }
  }).observe({ type: 'event', durationThreshold: 16, buffered: true });

  /** When the frame that shows what is there now was drawn, in milliseconds since the navigation. */
  const painted = () =>
    new Promise((resolve) => {
      requestAnimationFrame(() => {
        // A task of its own comes after the frame is drawn.
        setTimeout(() => resolve(performance.now()));
      });
    });

  /** Resolves with the time of the first frame in which `isThere()` holds. */
  const whenPainted = (isThere) =>
    new Promise((resolve) => {
      const look = () => {
        if (!isThere()) return false;
        void painted().then(resolve);
        return true;
      };
      if (look()) return;
      const observer = new MutationObserver(() => {
        if (look()) observer.disconnect();
      });
      observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    });

  const rows = () => document.querySelectorAll('section[aria-label="Conversations"] li').length;
  const visiblePanel = () => document.querySelector('[role="tabpanel"]:not([hidden])');
  const messagesHave = (text) =>
    document.querySelector('section[aria-label^="Messages "]')?.textContent?.includes(text) === true;

  globalThis.bench = {
    notes,
    landingPainted: whenPainted(() => document.querySelector('a[href="/signup"]') !== null),
    /** The list of chats is on screen. */
    dashboardReady: whenPainted(() => rows() > 0),
    painted,
    whenMessageShown: (text) => whenPainted(() => messagesHave(text)),
    /** The newest message has a heart, or has none. */
    whenHeart: (isThere) =>
      whenPainted(
        () => [...document.querySelectorAll('article')].at(-1)?.textContent.includes('❤') === isThere,
      ),
    whenDraftShown: (text) =>
      whenPainted(() =>
        document.querySelector('section[aria-label="Conversations"]')?.textContent.includes(text),
      ),
    /** Something in the list of chats is unread, or nothing is. */
    whenUnread: (isThere) =>
      whenPainted(
        () =>
          /\d unread/.test(
            document.querySelector('section[aria-label="Conversations"]')?.textContent ?? '',
          ) === isThere,
      ),
    /** Clicks, and answers how long it took until the answer was painted, in milliseconds. */
    async clickUntil(selector, text, what) {
      const target = [...document.querySelectorAll(selector)].find((element) =>
        element.textContent.includes(text),
      );
      if (target === undefined) throw new Error(`no ${selector} with ${text}`);
      const started = performance.now();
      const shown = whenPainted(
        what.message === undefined
          ? () => visiblePanel()?.getAttribute('aria-labelledby') === target.id
          : () => messagesHave(what.message),
      );
      target.click();
      return (await shown) - started;
    },
  };
}
