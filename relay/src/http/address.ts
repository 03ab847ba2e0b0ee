import type { FastifyRequest } from 'fastify';

/** The path that a request asks for, decoded as the router decodes it: /%61pi is /api. */
export function pathOf(request: Pick<FastifyRequest, 'url'>): string {
  const path = request.url.split('?', 1)[0] ?? '';
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
