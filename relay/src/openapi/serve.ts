import type { FastifyInstance } from 'fastify';
import { buildDocument } from './document.ts';
import { renderPage } from './page.ts';
import { stylesheet } from './stylesheet.ts';

/** Serves the contract's documentation below the prefix of `app`: for programs, and as a page for people. */
export function serveDocumentation(app: FastifyInstance): void {
  const document = buildDocument();
  const answers = [
    ['/openapi.json', 'application/json', JSON.stringify(document)],
    ['/docs', 'text/html', renderPage(document)],
    ['/docs.css', 'text/css', stylesheet],
  ] as const;
  for (const [url, type, body] of answers) {
    app.get(url, async (_request, reply) => reply.type(`${type}; charset=utf-8`).send(body));
  }
}
