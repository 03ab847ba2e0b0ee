/**
 * Makes the page light or dark; `system` leaves it to the person's system. The colours themselves are in tokens.css, and
 * those of the browser's own bar in index.html.
 */
export function applyTheme(theme: 'system' | 'light' | 'dark', page: Document): void {
  if (theme === 'system') delete page.documentElement.dataset.theme;
  else page.documentElement.dataset.theme = theme;
  for (const bar of page.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')) {
    bar.dataset.scheme ??= bar.media.includes('dark') ? 'dark' : 'light';
    const { scheme } = bar.dataset;
    if (theme === 'system') bar.media = `(prefers-color-scheme: ${scheme})`;
    else bar.media = scheme === theme ? 'all' : 'not all';
  }
}
