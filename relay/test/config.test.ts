import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';
import { StartupError } from '../src/errors.ts';
import { defaultQuotas } from '../src/rateLimits/quotas.ts';

describe("the relay's configuration", () => {
  it('has defaults that listen to this machine only', () => {
    const config = readConfig({});
    expect(config).toEqual({
      port: 8080,
      keysPort: 8081,
      keysOrigin: null,
      host: '127.0.0.1',
      dataDir: path.resolve('data'),
      webDir: path.resolve(import.meta.dirname, '../../dist'),
      logLevel: 'info',
      trustProxy: false,
      metrics: { host: '127.0.0.1', port: null },
      rateLimits: defaultQuotas,
      retention: { days: 90, historyDays: null },
      blobs: {
        dir: path.resolve('data/blobs'),
        days: 90,
        maxBytes: 100 * 1024 * 1024,
        quotaBytes: 2048 * 1024 * 1024,
      },
      databaseUrl: null,
      databasePoolSize: 10,
      redis: null,
      smtp: null,
      allowedOrigins: [],
      connectOrigins: [],
      operatorFile: null,
      addresses: { apiHost: null, mqttUrl: null },
    });
    expect(readConfig({ PORT: '', HOST: '', DATA_DIR: '', TRUST_PROXY: '' })).toEqual(config);
  });

  it('takes each variable', () => {
    const config = readConfig({
      PORT: '0',
      HOST: '::',
      KEYS_PORT: '9001',
      KEYS_ORIGIN: 'https://keys.chat.example.org/',
      DATA_DIR: '/var/lib/sinetti',
      WEB_DIR: '/srv/web',
      LOG_LEVEL: 'warn',
      TRUST_PROXY: 'true',
      METRICS_PORT: '9464',
      METRICS_HOST: '::1',
      RATE_LIMITS: 'send.account=1200/2m, sign-up.address=off',
      RETENTION_DAYS: '30',
      HISTORY_DAYS: '365',
      BLOB_DIR: '/srv/files',
      BLOB_DAYS: '14',
      BLOB_MAX_MIB: '5',
      BLOB_QUOTA_MIB: '50',
      DATABASE_URL: 'postgresql://sinetti@db.example.org/sinetti?sslmode=require',
      DATABASE_POOL_SIZE: '25',
      REDIS_URL: 'rediss://:secret@cache.example.org:6380',
      SMTP_URL: 'smtps://relay:pass%40word@mail.example.org',
      SMTP_FROM: 'relay@example.org',
      ALLOWED_ORIGINS: 'https://a.example.org/, http://localhost:5173',
      VITE_API_HOST: 'https://relay.example.org/path',
      VITE_MQTT_URL: 'wss://relay.example.org:8443/mqtt',
      OPERATOR_FILE: '/etc/sinetti/operator.json',
    });
    expect(config).toEqual({
      port: 0,
      keysPort: 9001,
      keysOrigin: 'https://keys.chat.example.org',
      host: '::',
      dataDir: '/var/lib/sinetti',
      webDir: '/srv/web',
      logLevel: 'warn',
      trustProxy: true,
      metrics: { host: '::1', port: 9464 },
      rateLimits: {
        ...defaultQuotas,
        'send.account': { count: 1200, periodMs: 120_000 },
        'sign-up.address': null,
      },
      retention: { days: 30, historyDays: 365 },
      blobs: { dir: '/srv/files', days: 14, maxBytes: 5 * 1024 * 1024, quotaBytes: 50 * 1024 * 1024 },
      databaseUrl: 'postgresql://sinetti@db.example.org/sinetti?sslmode=require',
      databasePoolSize: 25,
      redis: { urls: ['rediss://:secret@cache.example.org:6380'], isCluster: false },
      smtp: {
        host: 'mail.example.org',
        port: 465,
        secure: true,
        auth: { user: 'relay', pass: 'pass@word' },
        from: 'relay@example.org',
      },
      allowedOrigins: ['https://a.example.org', 'http://localhost:5173'],
      connectOrigins: ['https://relay.example.org', 'wss://relay.example.org:8443'],
      operatorFile: '/etc/sinetti/operator.json',
      addresses: { apiHost: 'https://relay.example.org', mqttUrl: 'wss://relay.example.org:8443/mqtt' },
    });
  });

  it.each([
    ['PORT', '80 80', 'PORT must be a port number.'],
    ['PORT', '65536', 'PORT must be a port number.'],
    ['PORT', '-1', 'PORT must be a port number.'],
    ['PORT', '80.5', 'PORT must be a port number.'],
    ['PORT', '65535', 'PORT must be lower: the origin of the keys has the port after it.'],
    ['RETENTION_DAYS', '0', 'RETENTION_DAYS must be at least 1.'],
    ['RETENTION_DAYS', 'off', 'RETENTION_DAYS must be a number of days.'],
    ['HISTORY_DAYS', '29', 'HISTORY_DAYS must be at least 30.'],
    ['HISTORY_DAYS', '9999', 'HISTORY_DAYS must be at most 3650.'],
    ['BLOB_DAYS', '0', 'BLOB_DAYS must be at least 1.'],
    ['BLOB_MAX_MIB', '0.5', 'BLOB_MAX_MIB must be a number of MiB.'],
    ['BLOB_QUOTA_MIB', '99', 'BLOB_QUOTA_MIB must be at least BLOB_MAX_MIB'],
    ['KEYS_PORT', '0', 'KEYS_PORT must be a port number.'],
    ['KEYS_PORT', '9001', 'KEYS_PORT is for relays behind a proxy: set KEYS_ORIGIN too.'],
    ['KEYS_ORIGIN', 'keys.example.org', 'KEYS_ORIGIN must be an http(s) address.'],
    ['KEYS_ORIGIN', 'https://secrets.example.org', 'KEYS_ORIGIN must be the host of the app after "keys."'],
    ['METRICS_PORT', 'on', 'METRICS_PORT must be a port number.'],
    ['LOG_LEVEL', 'loud', 'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent.'],
    ['TRUST_PROXY', 'yes', 'TRUST_PROXY must be true or false.'],
    [
      'RATE_LIMITS',
      'send.account',
      'RATE_LIMITS must be off, or a list of known limits such as send.account=',
    ],
    ['RATE_LIMITS', 'send.accounts=5/1m', 'RATE_LIMITS must be off'],
    ['RATE_LIMITS', 'send.account=0/1m', 'RATE_LIMITS must be off'],
    ['RATE_LIMITS', 'send.account=5/1d', 'RATE_LIMITS must be off'],
    ['DATABASE_URL', 'mysql://db/x', 'DATABASE_URL must be an address such as postgresql://'],
    ['DATABASE_POOL_SIZE', '1', 'DATABASE_POOL_SIZE must be at least 2.'],
    ['REDIS_URL', 'localhost:6379', 'REDIS_URL must be an address such as redis://localhost:6379.'],
    ['REDIS_CLUSTER_NODES', 'redis://a:7001,b:7001', 'REDIS_CLUSTER_NODES must be a comma-separated list'],
    ['REDIS_CLUSTER_NODES', 'redis://a:7001,rediss://b:7001', 'REDIS_CLUSTER_NODES must be a comma-'],
    ['REDIS_CLUSTER_NODES', 'redis://:x@a:7001,redis://:y@b:7001', 'all with the same name and password.'],
    ['REDIS_CLUSTER_NODES', ',', 'REDIS_CLUSTER_NODES must be a comma-separated list'],
    ['REDIS_CLUSTER_NODES', 'redis://a:7001', 'REDIS_CLUSTER_NODES is for relays that share a database'],
    [
      'REDIS_URL',
      'redis://localhost',
      'REDIS_URL is for relays that share a database: set DATABASE_URL too.',
    ],
    ['SMTP_URL', 'mail.example.org', 'SMTP_URL must be an address such as smtps://'],
    ['SMTP_URL', 'smtp:', 'SMTP_URL must have a host'],
    ['SMTP_URL', 'smtp://relay:100%@mail.example.org', 'SMTP_URL must have a host'],
    ['SMTP_URL', 'smtp://mail.example.org', 'SMTP_URL and SMTP_FROM belong together'],
    ['SMTP_FROM', 'relay@example.org', 'SMTP_URL and SMTP_FROM belong together'],
    ['SMTP_FROM', 'the relay', 'SMTP_FROM must be an email address.'],
    ['ALLOWED_ORIGINS', 'example.org', 'ALLOWED_ORIGINS must be a comma-separated list of origins'],
    ['ALLOWED_ORIGINS', 'https://a.example,javascript:alert(1)', 'ALLOWED_ORIGINS must be'],
    ['VITE_API_HOST', "https:; script-src 'unsafe-inline'", 'VITE_API_HOST must be an http(s) address.'],
    ['VITE_MQTT_URL', 'mqtt://broker', 'VITE_MQTT_URL must be a ws(s) address.'],
  ])('refuses %s=%s in one sentence', (name, value, sentence) => {
    const read = () => readConfig({ [name]: value });
    expect(read).toThrow(StartupError);
    expect(read).toThrow(sentence);
  });

  it('takes the nodes of a Redis Cluster in the place of one server', () => {
    const base = { DATABASE_URL: 'postgresql://sinetti@db.example.org/sinetti' };
    const nodes = 'rediss://:pass%40word@a.example.org:7001, rediss://:pass%40word@b.example.org';
    expect(readConfig({ ...base, REDIS_CLUSTER_NODES: nodes }).redis).toEqual({
      urls: ['rediss://:pass%40word@a.example.org:7001', 'rediss://:pass%40word@b.example.org'],
      isCluster: true,
    });
    expect(() => readConfig({ ...base, REDIS_CLUSTER_NODES: nodes, REDIS_URL: 'redis://localhost' })).toThrow(
      'REDIS_URL is for one server, and REDIS_CLUSTER_NODES for a cluster: set one of them.',
    );
  });

  it('names every wrong variable', () => {
    expect(() => readConfig({ PORT: 'x', TRUST_PROXY: 'x' })).toThrow(
      'PORT must be a port number. TRUST_PROXY must be true or false.',
    );
  });
});
