import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { Operator } from '../contract/operator.ts';
import type { RedisAddress } from './backplane/redisLink.ts';
import { StartupError } from './errors.ts';
import { appOriginOf, keysOriginRule } from './http/origins.ts';
import { parseQuotas, type Quotas } from './rateLimits/quotas.ts';

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

const redisProtocols = ['redis:', 'rediss:'];

const isOrigin = (text: string, protocols: readonly string[]) => {
  return URL.canParse(text) && protocols.includes(new URL(text).protocol);
};
const originOf = (text: string) => {
  const url = new URL(text);
  return `${url.protocol}//${url.host}`;
};

const address = (protocols: readonly string[], message: string) =>
  z
    .string()
    .refine((text) => isOrigin(text, protocols), message)
    .optional();

const days = (min: number) =>
  z.coerce
    .number('must be a number of days')
    .int('must be a number of days')
    .min(min, `must be at least ${min}`)
    .max(3650, 'must be at most 3650');

const mebibyte = 1024 * 1024;
const mebibytes = (max: number) =>
  z.coerce
    .number('must be a number of MiB')
    .int('must be a number of MiB')
    .min(1, 'must be at least 1')
    .max(max, `must be at most ${max}`);

/** Settings by the name of their environment variable. Each message completes the sentence "<NAME> …". */
const Environment = z.object({
  PORT: z.coerce
    .number('must be a port number')
    .int('must be a port number')
    .min(0, 'must be a port number')
    .max(65_535, 'must be a port number')
    .default(8080),
  HOST: z.string().min(1, 'must be an address to listen on').default('127.0.0.1'),
  KEYS_PORT: z.coerce
    .number('must be a port number')
    .int('must be a port number')
    .min(1, 'must be a port number')
    .max(65_535, 'must be a port number')
    .optional(),
  KEYS_ORIGIN: z
    .string()
    .refine((text) => isOrigin(text, ['http:', 'https:']), 'must be an http(s) address')
    .transform(originOf)
    .refine((origin) => appOriginOf(origin) !== null, keysOriginRule)
    .optional(),
  DATA_DIR: z.string().min(1, 'must be a folder').default('./data'),
  WEB_DIR: z.string().min(1, 'must be a folder').optional(),
  OPERATOR_FILE: z.string().min(1, 'must be a file').optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  TRUST_PROXY: z.enum(['true', 'false'], 'must be true or false').default('false'),
  METRICS_PORT: z.coerce
    .number('must be a port number')
    .int('must be a port number')
    .min(0, 'must be a port number')
    .max(65_535, 'must be a port number')
    .optional(),
  METRICS_HOST: z.string().min(1, 'must be an address to listen on').default('127.0.0.1'),
  RATE_LIMITS: z
    .string()
    .default('')
    .transform((text, context) => {
      const quotas = parseQuotas(text);
      if (quotas !== null) return quotas;
      context.addIssue(
        'must be off, or a list of known limits such as send.account=1200/1m, search.account=off',
      );
      return z.NEVER;
    }),
  RETENTION_DAYS: days(1).default(90),
  HISTORY_DAYS: days(30).optional(),
  BLOB_DIR: z.string().min(1, 'must be a folder').optional(),
  BLOB_DAYS: days(1).default(90),
  BLOB_MAX_MIB: mebibytes(10_240).default(100),
  BLOB_QUOTA_MIB: mebibytes(1_048_576).default(2048),
  SMTP_URL: address(
    ['smtp:', 'smtps:'],
    'must be an address such as smtps://name:password@mail.example.org',
  ).transform((text, context) => {
    if (text === undefined) return undefined;
    const server = smtpServerOf(text);
    if (server !== null) return server;
    context.addIssue('must have a host, and a name and password that are percent-encoded');
    return z.NEVER;
  }),
  SMTP_FROM: z.email('must be an email address').optional(),
  DATABASE_URL: address(
    ['postgres:', 'postgresql:'],
    'must be an address such as postgresql://sinetti@localhost/sinetti',
  ),
  DATABASE_POOL_SIZE: z.coerce
    .number('must be a number of connections')
    .int('must be a number of connections')
    .min(2, 'must be at least 2')
    .max(1000, 'must be at most 1000')
    .default(10),
  REDIS_URL: address(redisProtocols, 'must be an address such as redis://localhost:6379'),
  REDIS_CLUSTER_NODES: z
    .string()
    .transform((text) => text.split(',').map((item) => item.trim()))
    .refine(areNodes, {
      error:
        'must be a comma-separated list of addresses such as redis://localhost:7001, all with the same name and password',
    })
    .transform(([first = '', ...others]) => [first, ...others] as const)
    .optional(),
  ALLOWED_ORIGINS: z
    .string()
    .default('')
    .transform((text) => text.split(',').map((item) => item.trim()))
    .transform((items) => items.filter((item) => item !== ''))
    .refine((items) => items.every((item) => isOrigin(item, ['http:', 'https:'])), {
      error: 'must be a comma-separated list of origins such as https://chat.example.org',
    })
    .transform((items) => items.map(originOf)),
  VITE_API_HOST: z
    .string()
    .refine((text) => isOrigin(text, ['http:', 'https:']), 'must be an http(s) address')
    .transform(originOf)
    .optional(),
  VITE_MQTT_URL: z
    .string()
    .refine((text) => isOrigin(text, ['ws:', 'wss:']), 'must be a ws(s) address')
    .transform((text) => new URL(text).href)
    .optional(),
});

/** The operator's mail server. */
export interface Smtp {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise by STARTTLS. */
  readonly secure: boolean;
  readonly auth: { readonly user: string; readonly pass: string } | null;
  /** The address that mails come from. */
  readonly from: string;
}

export interface Config {
  /** 0 lets the system choose. */
  readonly port: number;
  /** Localhost unless the operator opens it: a relay meets the network by decision, not by default. */
  readonly host: string;
  /** The port of the keys' listener: the app's and one, unless a proxy stands before both. */
  readonly keysPort: number;
  /** The origin of the keys as browsers see it; null where nobody stands between, and it follows from the app's. */
  readonly keysOrigin: string | null;
  /** Absolute. Holds the secrets, and the database unless that is PostgreSQL. */
  readonly dataDir: string;
  /** Absolute. The built web client, with `app` and `keys` in it; the API runs without it. */
  readonly webDir: string;
  /** Absolute. The file in which the operator says who they are; null for the defaults. */
  readonly operatorFile: string | null;
  /** Where the client is told to find the API and MQTT; null for the page's own origin. */
  readonly addresses: Pick<Operator, 'apiHost' | 'mqttUrl'>;
  readonly logLevel: (typeof logLevels)[number];
  /** Believe X-Forwarded-*, of which the last value counts: only behind one proxy that sets them. */
  readonly trustProxy: boolean;
  /** The address at which Prometheus may fetch metrics; a null port serves none. */
  readonly metrics: { readonly host: string; readonly port: number | null };
  /** The quotas of accounts and addresses, by action. */
  readonly rateLimits: Quotas;
  readonly retention: {
    /** The days that the content of an entry is kept where not every device has acknowledged it. */
    readonly days: number;
    /** The days that sealed copies of messages are kept; null for as long as the account is there. */
    readonly historyDays: number | null;
  };
  /** Sealed files. */
  readonly blobs: {
    /** Absolute. The folder that they are in, which relays that share work share, too. */
    readonly dir: string;
    /** The days that a file is kept. */
    readonly days: number;
    /** Bytes of the largest file. */
    readonly maxBytes: number;
    /** Bytes that are kept of one person. */
    readonly quotaBytes: number;
  };
  /** The URL of PostgreSQL, with its credentials; null for SQLite in the data folder. */
  readonly databaseUrl: string | null;
  /** The most connections to PostgreSQL at a time. */
  readonly databasePoolSize: number;
  /** Through which relays on one PostgreSQL database share work; null for a relay on its own. */
  readonly redis: RedisAddress | null;
  /** The server by which people are told of changes to their account; null sends no mail. */
  readonly smtp: Smtp | null;
  /** Origins beside the relay's own whose pages may open sockets and call the API. */
  readonly allowedOrigins: readonly string[];
  /** Origins beside its own that the served page connects to: those of the addresses. */
  readonly connectOrigins: readonly string[];
}

/**
 * @param environment e.g. process.env; variables that are empty count as unset
 * @throws StartupError naming each variable with a wrong value
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = Environment.safeParse(set);
  if (!parsed.success) {
    throw new StartupError(
      parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`).join(' '),
    );
  }
  const values = parsed.data;
  const redis = redisOf(values);
  if (redis !== null && values.DATABASE_URL === undefined) {
    const name = redis.isCluster ? 'REDIS_CLUSTER_NODES' : 'REDIS_URL';
    throw new StartupError(`${name} is for relays that share a database: set DATABASE_URL too.`);
  }
  if (values.BLOB_QUOTA_MIB < values.BLOB_MAX_MIB) {
    throw new StartupError('BLOB_QUOTA_MIB must be at least BLOB_MAX_MIB: a file has to fit into it.');
  }
  const { SMTP_FROM: from, SMTP_URL: server } = values;
  if ((server === undefined) !== (from === undefined)) {
    throw new StartupError('SMTP_URL and SMTP_FROM belong together: set both, or neither.');
  }
  const keysPort = values.KEYS_PORT ?? (values.PORT === 0 ? 0 : values.PORT + 1);
  if (values.KEYS_ORIGIN === undefined) {
    if (values.KEYS_PORT !== undefined) {
      throw new StartupError('KEYS_PORT is for relays behind a proxy: set KEYS_ORIGIN too.');
    }
    if (values.PORT === 65_535) {
      throw new StartupError('PORT must be lower: the origin of the keys has the port after it.');
    }
  }
  return {
    port: values.PORT,
    keysPort,
    keysOrigin: values.KEYS_ORIGIN ?? null,
    host: values.HOST,
    dataDir: path.resolve(values.DATA_DIR),
    webDir: path.resolve(values.WEB_DIR ?? path.join(repositoryRoot(), 'dist')),
    operatorFile: values.OPERATOR_FILE === undefined ? null : path.resolve(values.OPERATOR_FILE),
    addresses: { apiHost: values.VITE_API_HOST ?? null, mqttUrl: values.VITE_MQTT_URL ?? null },
    logLevel: values.LOG_LEVEL,
    trustProxy: values.TRUST_PROXY === 'true',
    metrics: { host: values.METRICS_HOST, port: values.METRICS_PORT ?? null },
    rateLimits: values.RATE_LIMITS,
    retention: { days: values.RETENTION_DAYS, historyDays: values.HISTORY_DAYS ?? null },
    blobs: {
      dir: path.resolve(values.BLOB_DIR ?? path.join(values.DATA_DIR, 'blobs')),
      days: values.BLOB_DAYS,
      maxBytes: values.BLOB_MAX_MIB * mebibyte,
      quotaBytes: values.BLOB_QUOTA_MIB * mebibyte,
    },
    databaseUrl: values.DATABASE_URL ?? null,
    databasePoolSize: values.DATABASE_POOL_SIZE,
    redis,
    smtp: server === undefined || from === undefined ? null : { ...server, from },
    allowedOrigins: values.ALLOWED_ORIGINS,
    connectOrigins: [values.VITE_API_HOST, values.VITE_MQTT_URL]
      .filter((address) => address !== undefined)
      .map(originOf),
  };
}

/** @throws StartupError if both are set */
function redisOf(values: z.output<typeof Environment>): RedisAddress | null {
  const { REDIS_URL: url, REDIS_CLUSTER_NODES: nodes } = values;
  if (url !== undefined && nodes !== undefined) {
    throw new StartupError(
      'REDIS_URL is for one server, and REDIS_CLUSTER_NODES for a cluster: set one of them.',
    );
  }
  if (nodes !== undefined) return { urls: nodes, isCluster: true };
  return url === undefined ? null : { urls: [url], isCluster: false };
}

/** Nodes that aren't named are found by those that are, and take the same name and password by the same kind of connection. */
function areNodes(texts: readonly string[]): boolean {
  if (!texts.every((text) => isOrigin(text, redisProtocols))) return false;
  const nodes = texts.map((text) => new URL(text));
  const ways = nodes.map(({ password, protocol, username }) => [protocol, username, password].join(' '));
  return nodes.every(({ hostname }) => hostname !== '') && new Set(ways).size === 1;
}

/** Returns what an address of a mail server says; null for one without a host, or with a name that is no percent-encoding. */
function smtpServerOf(text: string): Omit<Smtp, 'from'> | null {
  const { hostname, password, port, protocol, username } = new URL(text);
  const secure = protocol === 'smtps:';
  if (hostname === '') return null;
  try {
    const auth = { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
    return {
      host: hostname.replaceAll(/[[\]]/g, ''),
      // Submission, RFC 8314 section 3.3 and RFC 6409.
      port: port === '' ? (secure ? 465 : 587) : Number(port),
      secure,
      auth: username === '' ? null : auth,
    };
  } catch {
    return null;
  }
}

/** The folder that holds relay/, whether this runs as relay/src or as the compiled relay/dist/src. */
function repositoryRoot(): string {
  const here = path.dirname(fileURLToPath(import.meta.url));
  const relay = path.resolve(here, '..');
  return path.basename(relay) === 'dist' ? path.resolve(relay, '..', '..') : path.resolve(relay, '..');
}
