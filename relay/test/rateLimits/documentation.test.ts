import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { Metrics } from '../../src/metrics/metrics.ts';
import { defaultQuotas, parseQuotas } from '../../src/rateLimits/quotas.ts';

const page = (name: string) => readFile(path.resolve(import.meta.dirname, '../..', name), 'utf8');

it('the page of limits lists each of them with its default', async () => {
  const rows = [...(await page('LIMITS.md')).matchAll(/^\| `([\w.-]+)` \| `([\w/]+)` \|/gm)];
  expect(rows.map(([, name]) => name)).toEqual(Object.keys(defaultQuotas));
  const changes = rows.map(([, name, quota]) => `${name}=${quota}`).join(',');
  expect(parseQuotas(changes)).toEqual(defaultQuotas);
});

it('the page of metrics lists each of them', async () => {
  const rows = [...(await page('METRICS.md')).matchAll(/^\| `(\w+)` \|/gm)];
  const metrics = await new Metrics().registry.getMetricsAsJSON();
  expect(rows.map(([, name]) => name)).toEqual(metrics.map(({ name }) => name));
});
