import { compileMessage } from '@lingui/message-utils/compileMessage';
import type { Plugin } from 'vite';

/** Compiles the ICU messages of the catalogue while the client is built, so that the browser needs no parser of them. */
export function compileCatalogues(): Plugin {
  return {
    name: 'compile-catalogues',
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/i18n\/[a-z]{2}\/[a-z]+\.json$/i },
      handler(json) {
        const texts = JSON.parse(json) as Record<string, string>;
        const compiled = Object.entries(texts).map(([key, text]) => [key, compileMessage(text)]);
        return { code: JSON.stringify(Object.fromEntries(compiled)), map: null };
      },
    },
  };
}
