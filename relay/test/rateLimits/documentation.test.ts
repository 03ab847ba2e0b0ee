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

const seconds = { m: 60, h: 3600, d: 86_400 };

it("the rules for Prometheus are made of the page's metrics, and say what to do", async () => {
  const rules = (await page('deploy/alerts.yml')).split(/^ {6}- alert: /m).slice(1);
  expect(rules.length).toBeGreaterThan(8);
  const metrics = (await new Metrics().registry.getMetricsAsJSON()).map(({ name }) => name);
  const names = new Set<string>();
  for (const rule of rules) {
    const shape =
      /^(?<name>Sinetti\w+)\n {8}expr: (?<expr>.+)\n(?: {8}for: (?<wait>\d+[mhd])\n)? {8}labels: \{ severity: (?:page|look) \}\n {8}annotations: \{ summary: "[A-Z][^"]+\." \}\n/;
    const { name = '', expr = '', wait = '1m' } = shape.exec(rule)?.groups ?? {};
    expect([rule, name]).not.toEqual([rule, '']);
    expect(names).not.toContain(name);
    names.add(name);
    expect(seconds[wait.at(-1) as keyof typeof seconds] * Number.parseInt(wait, 10)).toBeLessThanOrEqual(
      3600,
    );
    // Each bracket is closed, and what is named is there.
    for (const pair of ['()', '{}', '[]']) {
      const count = (mark = '') => expr.split(mark).length;
      expect([expr, count(pair[0])]).toEqual([expr, count(pair[1])]);
    }
    const used = expr.match(/\b(?:sinetti|nodejs|process)_\w+/g) ?? [];
    expect([expr, used.length]).not.toEqual([expr, 0]);
    for (const metric of used.filter((one) => one.startsWith('sinetti_')))
      expect(metrics).toContain(metric.replace(/_(?:bucket|count|sum)$/, ''));
  }
});

it('the page of metrics lists each of them', async () => {
  const rows = [...(await page('METRICS.md')).matchAll(/^\| `(\w+)` \|/gm)];
  const metrics = await new Metrics().registry.getMetricsAsJSON();
  expect(rows.map(([, name]) => name)).toEqual(metrics.map(({ name }) => name));
});
