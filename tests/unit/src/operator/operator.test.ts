import { afterEach, describe, expect, it } from 'vitest';
import { defaultOperator } from '#relay/contract/operator.ts';
import { loadOperator, type Operator, operator, productSlug } from '#src/operator/index.ts';

const own: Operator = {
  productName: 'Letterbox Ä',
  supportEmail: 'help@example.org',
  privacyEmail: null,
  controller: { name: 'Seal Ltd', address: 'Street 1, 00100 Helsinki', country: 'Finland' },
  governingLaw: { en: 'Swedish law', fi: 'Ruotsin laki' },
  certificates: [{ name: 'ISO/IEC 27001', issuer: 'A registrar' }],
  apiHost: 'https://relay.example.org',
  mqttUrl: 'wss://mqtt.example.org:8443/mqtt',
};

const asked: string[] = [];
/** Loads what a relay answers with. */
const told = (body: string, status = 200) =>
  loadOperator((async (address: string) => {
    asked.push(address);
    return new Response(body, { status });
  }) as typeof fetch);

afterEach(async () => {
  await told(JSON.stringify(defaultOperator));
});

describe('what the relay says of an installation', () => {
  it('is taken over where all of it is understood', async () => {
    expect(await told(JSON.stringify(own))).toBe(true);
    expect(asked.at(-1)).toBe('/operator.json');
    expect(operator).toEqual(own);
    expect(productSlug()).toBe('letterbox-a');
  });

  it.each([
    ['no JSON', '{,}'],
    ['a page', '<!doctype html>'],
    ['null', 'null'],
    ['a list', '[]'],
    ['an unknown member', JSON.stringify({ ...own, script: 'x' })],
    ['an inherited name', JSON.stringify(own).replace('{', '{"__proto__":{},')],
    ['a name that every object has', JSON.stringify({ ...own, constructor: 'x' })],
    ['a missing member', JSON.stringify({ ...own, apiHost: undefined })],
    ['an object where a text belongs', JSON.stringify({ ...own, productName: { type: 'b' } })],
    ['an address that is a script', JSON.stringify({ ...own, supportEmail: 'javascript:alert(1)' })],
    [
      'an address with headers of a mail',
      JSON.stringify({ ...own, supportEmail: 'a@example.org?bcc=b@example.org' }),
    ],
    ['marks that turn the text', JSON.stringify({ ...own, productName: 'itteniS\u202e' })],
    ['half a character', '{"productName":"\\ud800"}'],
    ['a host with a path', JSON.stringify({ ...own, apiHost: 'https://relay.example.org/api' })],
    ['a host with a name in it', JSON.stringify({ ...own, apiHost: 'https://me@relay.example.org' })],
    ['a host of another kind', JSON.stringify({ ...own, apiHost: 'javascript://relay' })],
    ['a socket that is none', JSON.stringify({ ...own, mqttUrl: 'https://mqtt.example.org' })],
  ])('leaves the defaults in place: %s', async (_, body) => {
    expect(await told(body)).toBe(false);
    expect(operator).toEqual(defaultOperator);
    expect(productSlug()).toBe('sinetti');
  });

  it('leaves the defaults in place where nothing comes', async () => {
    expect(await told('', 404)).toBe(false);
    expect(await loadOperator(() => Promise.reject(new TypeError('Failed to fetch')))).toBe(false);
    expect(operator).toEqual(defaultOperator);
  });
});

describe('the defaults', () => {
  it('name no controller and no certificates, and follow the specification', () => {
    expect(operator).toMatchObject({ controller: null, certificates: [], productName: 'Sinetti' });
    expect(operator.governingLaw.en).toBe('Finnish law');
    expect(operator).toMatchObject({ apiHost: null, mqttUrl: null });
  });

  it('use addresses that cannot belong to anybody', () => {
    for (const address of [operator.supportEmail, operator.privacyEmail])
      expect(address).toMatch(/\.example$/);
  });
});
