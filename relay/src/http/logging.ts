import { type FastifyBaseLogger, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import { pino } from 'pino';
import type { Config } from '../config.ts';
import { errorCode } from '../errorCode.ts';

/** Takes log lines, one JSON object a line. */
export interface LogStream {
  write(line: string): void;
}

/**
 * Log lines name the route by its pattern, and hold no URL, header, body or address: a path holds ids, a query holds
 * emails, a header holds the token. Serialisers stand in for the usual ones, which would add them.
 */
export function createLog(level: Config['logLevel'], stream: LogStream | undefined): FastifyBaseLogger {
  const options = {
    level,
    serializers: {
      req: (request: FastifyRequest) => ({ method: request.method, route: routeOf(request) }),
      res: (reply: FastifyReply) => ({ status: reply.statusCode }),
      err: describeError,
    },
  };
  return stream === undefined ? pino(options) : pino(options, stream);
}

/** One line for each request, when it is answered. */
export class RequestLog extends LogController {
  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const line = {
      method: request.method,
      route: routeOf(request),
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    };
    if (error) request.log.warn({ ...line, err: error }, 'answer not delivered');
    else request.log.info(line, 'request');
  }

  override routeNotFound(): void {}
}

function routeOf(request: FastifyRequest): string {
  return request.routeOptions?.url ?? 'none';
}

/** The stack and no other property: a parser's error carries the packet that it could not parse. */
function describeError(error: unknown) {
  return error instanceof Error
    ? { type: error.name, code: errorCode(error), stack: error.stack ?? error.message }
    : { type: typeof error };
}
