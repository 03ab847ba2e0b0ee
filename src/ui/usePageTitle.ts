import { useEffect } from 'react';
import { operator } from '../operator/index.ts';

/** Names the browser's tab; without a title, by the product alone. */
export function usePageTitle(title?: string): void {
  useEffect(() => {
    const { productName } = operator;
    document.title = title === undefined ? productName : `${title} – ${productName}`;
  }, [title]);
}
