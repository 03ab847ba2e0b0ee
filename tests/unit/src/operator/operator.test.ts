import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { operator, productSlug } from '#src/operator/index.ts';
import { type Operator, parseOperator } from '#src/operator/schema.ts';

const good: Operator = {
  productName: 'Sinetti',
  supportEmail: 'help@example.org',
  privacyEmail: null,
  controller: { name: 'Seal Ltd', address: 'Street 1, 00100 Helsinki', country: 'Finland' },
  governingLaw: { en: 'Finnish law', fi: 'Suomen laki' },
  certificates: [{ name: 'ISO/IEC 27001', issuer: 'A registrar' }],
};

const parse = (settings: unknown) => parseOperator(JSON.stringify(settings), 'my.json');

describe('the operator’s file', () => {
  it('is accepted unchanged when it is valid', () => {
    expect(parse(good)).toEqual(good);
  });

  const missing = 'Invalid input: expected string, received undefined';
  it.each([
    ['productName', { productName: ' ' }, 'must not be empty'],
    ['productName', { productName: 'A\nB' }, 'must be one line without invisible characters'],
    ['productName', { productName: 'itteniS\u202e' }, 'must be one line without invisible characters'],
    ['supportEmail', { supportEmail: 'nobody' }, 'must be an email address, or null'],
    ['privacyEmail', { privacyEmail: 'javascript:alert(1)' }, 'must be an email address, or null'],
    ['controller.country', { controller: { name: 'A', address: 'B' } }, missing],
    ['governingLaw.fi', { governingLaw: { en: 'Finnish law' } }, missing],
    ['certificates.0.issuer', { certificates: [{ name: 'ISO/IEC 27001' }] }, missing],
  ])('names %s when it is wrong: %j', (field, wrong, problem) => {
    expect(() => parse({ ...good, ...wrong })).toThrow(`my.json: ${field}: ${problem}`);
  });

  it('refuses an unknown field, so that a misspelt one is noticed', () => {
    expect(() => parse({ ...good, suportEmail: 'help@example.org' })).toThrow('suportEmail');
  });

  it('is refused when it is not JSON', () => {
    expect(() => parseOperator('{,}', 'my.json')).toThrow('my.json: this is not JSON.');
  });
});

describe('the defaults', () => {
  it('name no controller and no certificates, and follow the specification', async () => {
    const file = 'src/operator/operator.json';
    expect(parseOperator(await readFile(file, 'utf8'), file)).toEqual(operator);
    expect(operator.controller).toBeNull();
    expect(operator.certificates).toEqual([]);
    expect(operator.governingLaw.en).toBe('Finnish law');
    expect(productSlug).toBe('sinetti');
  });

  it('use addresses that cannot belong to anybody', () => {
    for (const address of [operator.supportEmail, operator.privacyEmail])
      expect(address).toMatch(/\.example$/);
  });
});
