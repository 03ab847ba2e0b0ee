import type { FastifyInstance } from 'fastify';
import { buildDocument, type OpenApiDocument } from './document.ts';
import { renderPage } from './page.ts';
import { stylesheet } from './stylesheet.ts';

/**
 * Serves the contract's documentation below the prefix of `app`: for programs, and as a page for people. It is made when
 * somebody first asks, because it takes as long as the rest of a start.
 */
export function serveDocumentation(app: FastifyInstance): void {
  let built: OpenApiDocument | null = null;
  const document = (): OpenApiDocument => (built ??= buildDocument());
  const answers = [
    ['/openapi.json', 'application/json', () => JSON.stringify(document())],
    ['/docs', 'text/html', () => renderPage(document())],
    ['/docs.css', 'text/css', () => stylesheet],
  ] as const;
  for (const [url, type, body] of answers) {
    app.get(url, async (_request, reply) => reply.type(`${type}; charset=utf-8`).send(body()));
  }
}
