import { useEffect } from 'react';

/** Names the browser's tab; without a title, by the product alone. */
export function usePageTitle(title?: string): void {
  useEffect(() => {
    document.title = title === undefined ? 'Sinetti' : `${title} – Sinetti`;
  }, [title]);
}
