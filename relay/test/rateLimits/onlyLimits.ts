import { defaultQuotas, type QuotaName } from '../../src/rateLimits/quotas.ts';

/** The setting RATE_LIMITS of a relay without any limit but these. */
export function onlyLimits(limits: Partial<Record<QuotaName, string>>): string {
  return Object.keys(defaultQuotas)
    .map((name) => `${name}=${limits[name as QuotaName] ?? 'off'}`)
    .join(',');
}
