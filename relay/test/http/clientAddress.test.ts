import { describe, expect, it } from 'vitest';
import { clientAddress, networkOf } from '../../src/http/clientAddress.ts';

type Request = Parameters<typeof clientAddress>[0];

function addressOf(remoteAddress: string | undefined, forwardedFor?: string, trustProxy = true): string {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
  return clientAddress({ headers, socket: { remoteAddress } as Request['socket'] }, { trustProxy });
}

describe('the address that limits count', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::FFFF:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
    ['', 'unknown'],
    [undefined, 'unknown'],
  ])('of %s is %s', (remote, expected) => {
    expect(addressOf(remote)).toBe(expected);
  });

  it('is what the proxy has added, never what the visitor sent', () => {
    expect(addressOf('127.0.0.1', '198.51.100.9')).toBe('198.51.100.9');
    expect(addressOf('127.0.0.1', '1.1.1.1, 198.51.100.9')).toBe('198.51.100.9');
    expect(addressOf('127.0.0.1', '1.1.1.1,2001:db8:1:2::5')).toBe('2001:db8:1:2::/64');
    for (const nonsense of ['', 'x', '1.1.1.1, ', '198.51.100.9:443', '1.1.1.1, <script>']) {
      expect(addressOf('127.0.0.1', nonsense)).toBe('127.0.0.1');
    }
  });

  it('is that of the connection without a trusted proxy', () => {
    expect(addressOf('127.0.0.1', '198.51.100.9', false)).toBe('127.0.0.1');
  });
});

it.each([
  ['203.0.113.7', '203.0.113.0/24'],
  ['2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['unknown', 'unknown'],
])('the network that a log may name of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
