import type { Quota } from './bucket.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/**
 * The default quotas, by `<what>.<whose>`. An address is an IPv4 address or an IPv6 /64, which is what one
 * customer of a provider gets; it may stand for a whole school, so its quotas are several people's. A target is the person
 * that something is done to, or the email. LIMITS.md explains each.
 */
export const defaultQuotas = {
  'request.address': { count: 6000, periodMs: minute },
  'request.account': { count: 1800, periodMs: minute },
  'upload.account': { count: 256 * 1024, periodMs: hour },
  'connect.address': { count: 600, periodMs: minute },
  'sign-up.address': { count: 60, periodMs: hour },
  'params.address': { count: 300, periodMs: 10 * minute },
  'login.address': { count: 300, periodMs: 10 * minute },
  'login.address-account': { count: 20, periodMs: 15 * minute },
  'login.account': { count: 100, periodMs: hour },
  'login.browser': { count: 20, periodMs: 15 * minute },
  'search.account': { count: 120, periodMs: minute },
  'search.address': { count: 1200, periodMs: minute },
  'rename.account': { count: 20, periodMs: hour },
  'rename.address': { count: 200, periodMs: hour },
  'contact-request.account': { count: 60, periodMs: hour },
  'contact-request.address': { count: 600, periodMs: hour },
  'block.account': { count: 60, periodMs: hour },
  'report.account': { count: 20, periodMs: 24 * hour },
  'email-code.account': { count: 10, periodMs: 24 * hour },
  'email-code.address': { count: 100, periodMs: 24 * hour },
  'email-code.target': { count: 10, periodMs: 24 * hour },
  'email-confirm.account': { count: 30, periodMs: hour },
  'email-confirm.address': { count: 300, periodMs: hour },
  'mail.account': { count: 20, periodMs: 24 * hour },
  'claim.account': { count: 1200, periodMs: 10 * minute },
  'claim.address': { count: 6000, periodMs: 10 * minute },
  'claim.account-target': { count: 20, periodMs: hour },
  'claim.target': { count: 100, periodMs: hour },
  'added.account-target': { count: 20, periodMs: 24 * hour },
  'added.target': { count: 60, periodMs: 24 * hour },
  'commit.account': { count: 300, periodMs: 10 * minute },
  'commit.account-conversation': { count: 60, periodMs: 10 * minute },
  'commit.address': { count: 1500, periodMs: 10 * minute },
  'tree.account': { count: 600, periodMs: 10 * minute },
  'tree.address': { count: 3000, periodMs: 10 * minute },
  'send.account': { count: 600, periodMs: minute },
  'send.address': { count: 3000, periodMs: minute },
  'blob-create.account': { count: 600, periodMs: hour },
  'blob-upload.account': { count: 500 * 1024, periodMs: 24 * hour },
  'blob-download.account': { count: 4 * 1024 * 1024, periodMs: 24 * hour },
  'receipt.account': { count: 600, periodMs: minute },
  'receipt.address': { count: 3000, periodMs: minute },
  'typing.account': { count: 120, periodMs: minute },
  'typing.address': { count: 1200, periodMs: minute },
} as const satisfies Record<string, Quota>;

/** Addresses of one IPv6 /48, which one customer can have 65,536 /64 of, that have a quota each before they share. */
export const addressesPerNetwork = 8;

export type QuotaName = keyof typeof defaultQuotas;

/** Null: not limited. */
export type Quotas = Readonly<Record<QuotaName, Quota | null>>;

const units: Readonly<Record<string, number>> = { s: second, m: minute, h: hour };
const isQuotaName = (name: string): name is QuotaName => Object.hasOwn(defaultQuotas, name);

/**
 * @param text `off`, or changes to the defaults such as `send.account=1200/1m, sign-up.address=off`
 * @returns null if it is neither
 */
export function parseQuotas(text: string): Quotas | null {
  const quotas: Record<QuotaName, Quota | null> = { ...defaultQuotas };
  if (text.trim() === 'off') {
    for (const name of Object.keys(quotas)) if (isQuotaName(name)) quotas[name] = null;
    return quotas;
  }
  for (const change of text.split(',')) {
    if (change.trim() === '') continue;
    const [, name = '', value = ''] = /^\s*([a-z.-]+)\s*=\s*(\S+)\s*$/.exec(change) ?? [];
    const quota = parseQuota(value);
    if (!isQuotaName(name) || quota === undefined) return null;
    quotas[name] = quota;
  }
  return quotas;
}

function parseQuota(text: string): Quota | null | undefined {
  if (text === 'off') return null;
  const [, count, times, unit = ''] = /^([1-9]\d{0,8})\/([1-9]\d{0,3})([smh])$/.exec(text) ?? [];
  const unitMs = units[unit];
  return unitMs === undefined ? undefined : { count: Number(count), periodMs: Number(times) * unitMs };
}
