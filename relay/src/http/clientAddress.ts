import type { IncomingMessage } from 'node:http';
import { isIP, isIPv4 } from 'node:net';

/**
 * The client's address as rate limits count it: an IPv4 address, or an IPv6 /64, since one customer of a
 * provider has all of that.
 *
 * Behind a trusted proxy the last value of X-Forwarded-For counts. It is the one that the proxy has added;
 * those before it are whatever the visitor sent.
 */
export function clientAddress(
  request: Pick<IncomingMessage, 'headers' | 'socket'>,
  config: { readonly trustProxy: boolean },
): string {
  const header = config.trustProxy ? request.headers['x-forwarded-for'] : undefined;
  const forwarded = String(header ?? '')
    .split(',')
    .at(-1)
    ?.trim();
  const address = forwarded !== undefined && isIP(forwarded) !== 0 ? forwarded : request.socket.remoteAddress;
  return prefixOf(address ?? '', 4);
}

/** Has Fastify believe the X-Forwarded headers of one proxy, since the values before the last are the visitor's claims. */
export function trustedProxies({ trustProxy }: { readonly trustProxy: boolean }) {
  return trustProxy && ((_address: string, hop: number) => hop === 0);
}

/** The network of an address that `clientAddress` returned, coarse enough for a log: an IPv4 /24 or an IPv6 /48. */
export function networkOf(address: string): string {
  if (isIPv4(address)) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  return prefixOf(address.replace('/64', ''), 3);
}

/** The /48 of an IPv6 address that `clientAddress` returned; null for any other. */
export function ipv6NetworkOf(address: string): string | null {
  return address.endsWith('/64') ? networkOf(address) : null;
}

/** @param length 16-bit groups of the IPv6 prefix */
function prefixOf(address: string, length: number): string {
  if (isIPv4(address)) return address;
  const withoutZone = address.split('%', 1)[0] ?? '';
  if (isIP(withoutZone) !== 6) return 'unknown';
  const groups = groupsOf(withoutZone);
  const [high = 0, low = 0] = groups.slice(6);
  // A socket that takes both families shows IPv4 addresses as ::ffff:a.b.c.d (RFC 4291 section 2.5.5.2).
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
  const prefix = groups.slice(0, length).map((group) => group.toString(16));
  return `${prefix.join(':')}::/${length * 16}`;
}

/** The eight groups of an IPv6 address in any of its notations. */
function groupsOf(address: string): number[] {
  // The URL parser brings them to one notation (RFC 5952), in which only :: is left to fill.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const parse = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [parse(head), parse(tail ?? '')];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
