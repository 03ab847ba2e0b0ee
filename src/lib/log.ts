/** The events that the log may speak of. A closed set, so that no caller can put a person's data into an event's name. */
export type LogEvent =
  | 'authentication-error'
  | 'permission-error'
  | 'resource-not-found'
  | 'server-error'
  | 'server-unreachable'
  | 'invalid-response'
  | 'invalid-event'
  | 'realtime-closed'
  | 'sync-failed'
  | 'sync-stalled'
  | 'send-failed'
  | 'members-differ'
  | 'sign-in-failed'
  | 'name-not-signed'
  | 'group-not-left'
  | 'erase-failed'
  | 'local-entry-damaged'
  | 'update-failed'
  | 'release-refused'
  | 'backup-full'
  | 'screen-failure'
  | 'background-failure';

/** Facts about a failure that say nothing about a person. `route` is the contract's pattern, never the real path. */
export interface LogFields {
  readonly method?: string | undefined;
  readonly route?: string | undefined;
  readonly status?: number | undefined;
  readonly code?: string | undefined;
  readonly hint?: string | undefined;
}

export interface Log {
  /** Something outside went wrong: the network, the relay, or what it answered. */
  warn(event: LogEvent, fields?: LogFields): void;
  /** A bug of ours. */
  error(event: LogEvent, fields?: LogFields): void;
}

export interface LogSink {
  warn(message: string): void;
  error(message: string): void;
}

// Digits are left out of routes, and codes are short kebab-case words: ids, tokens, emails and base64 can't pass.
export const harmless = {
  method: /^[A-Z]{3,7}$/,
  route: /^(\/[a-zA-Z-]+|\/\{[a-zA-Z]+\})+$/,
  code: /^[a-z]{1,24}(-[a-z]{1,24}){0,4}$|^0x[0-9a-f]{2}$/,
  hint: /^[a-z]{1,16}( [a-z]{1,16}){0,9}$/,
} as const;

function redacted(field: keyof typeof harmless, value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  return harmless[field].test(value) ? value : '[redacted]';
}

/**
 * The only log of the client. Types keep bodies, tokens, ids and emails out; what still arrives in a string field is
 * checked against that field's shape and replaced when it doesn't fit.
 */
export function createLog(sink: LogSink): Log {
  function line(event: LogEvent, fields: LogFields): string {
    const facts = {
      method: redacted('method', fields.method),
      route: redacted('route', fields.route),
      status: fields.status,
      code: redacted('code', fields.code),
      hint: redacted('hint', fields.hint),
    };
    const text = Object.entries(facts)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${JSON.stringify(value)}`);
    return [event, ...text].join(' ');
  }
  return {
    warn: (event, fields = {}) => sink.warn(line(event, fields)),
    error: (event, fields = {}) => sink.error(line(event, fields)),
  };
}
