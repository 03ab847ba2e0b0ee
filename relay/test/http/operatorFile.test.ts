import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { defaultOperator } from '../../contract/operator.ts';
import { readConfig } from '../../src/config.ts';
import { readOperator } from '../../src/http/operatorFile.ts';
import { startTestRelay, type TestRelay, temporaryFolder, writeWebClient } from '../helpers.ts';

const facts = {
  productName: 'Letter "box" $&',
  supportEmail: 'help@example.org',
  privacyEmail: null,
  controller: { name: 'Seal Ltd', address: 'Street 1, 00100 Helsinki', country: 'Finland' },
  governingLaw: { en: 'Finnish law', fi: 'Suomen laki' },
  certificates: [{ name: 'ISO/IEC 27001', issuer: 'A registrar' }],
};
const manifest = '{\n  "name": "%productName%",\n  "short_name": "%productName%"\n}\n';

let folder: string;
let file: string;
const relays: TestRelay[] = [];
beforeAll(async () => {
  folder = await temporaryFolder();
  file = path.join(folder, 'operator.json');
  await writeWebClient(folder);
  await writeFile(path.join(folder, 'app/manifest.webmanifest'), manifest);
});
afterEach(async () => {
  for (const relay of relays.splice(0)) await relay.close();
});
afterAll(() => rm(folder, { recursive: true }));

async function started(environment: Record<string, string> = {}): Promise<TestRelay> {
  const relay = await startTestRelay({ environment: { WEB_DIR: folder, ...environment } });
  relays.push(relay);
  return relay;
}

const withFile = async (content: unknown) => {
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return { OPERATOR_FILE: file };
};

/** Reads the file as a start does, before anything is served. */
const read = (environment: Record<string, string>) =>
  readOperator(readConfig(environment), { info: () => undefined });

describe('the operator’s file', () => {
  it('is told to the page with the addresses of the relay, and to no one at the origin of the keys', async () => {
    const addresses = {
      VITE_API_HOST: 'https://api.example.org/',
      VITE_MQTT_URL: 'wss://mqtt.example.org/mqtt',
    };
    const { keysUrl, url } = await started({ ...(await withFile(facts)), ...addresses });
    const answer = await fetch(`${url}/operator.json`);
    const operator = { ...facts, apiHost: 'https://api.example.org', mqttUrl: 'wss://mqtt.example.org/mqtt' };
    expect(await answer.json()).toEqual(operator);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const settingsAt = async (origin: string | null) =>
      JSON.parse(
        (await (await fetch(`${origin}/operator.js`)).text()).slice('self.operatorSettings = '.length, -2),
      );
    expect((await settingsAt(url)).operator).toEqual(operator);
    expect(await settingsAt(keysUrl)).not.toHaveProperty('operator');
    expect((await fetch(`${keysUrl}/operator.json`)).status).toBe(404);
  });

  it('names the app that is installed, and leaves the rest of the manifest as it was built', async () => {
    const { url } = await started(await withFile(facts));
    const answer = await fetch(`${url}/manifest.webmanifest`);
    expect(answer.headers.get('content-type')).toMatch(/^application\/manifest\+json/);
    expect(await answer.text()).toBe(manifest.replaceAll('"%productName%"', () => '"Letter \\"box\\" $&"'));
  });

  it('is the defaults where there is none, and the log says that their addresses reach nobody', async () => {
    const relay = await started();
    expect(await (await fetch(`${relay.url}/operator.json`)).json()).toEqual(defaultOperator);
    expect(relay.logLines.join('')).toContain('support@sinetti.example');
  });

  it.each([
    ['productName', { productName: ' ' }, 'must be one line of 1 to 30 characters, none of them invisible'],
    [
      'productName',
      { productName: 'A\nB' },
      'must be one line of 1 to 30 characters, none of them invisible',
    ],
    ['supportEmail', { supportEmail: 'nobody' }, 'must be an email address, or null'],
    ['privacyEmail', { privacyEmail: 'javascript:alert(1)' }, 'must be an email address, or null'],
    ['controller.country', { controller: { name: 'A', address: 'B' } }, 'must be one line of 1 to 60'],
    ['governingLaw.fi', { governingLaw: { en: 'Finnish law' } }, 'must be one line of 1 to 60'],
    ['certificates', { certificates: {} }, 'must be a list of at most 6'],
    ['certificates.0.issuer', { certificates: [{ name: 'ISO/IEC 27001' }] }, 'must be one line of 1 to 80'],
    ['suportEmail', { suportEmail: 'help@example.org' }, 'is not known'],
    ['apiHost', { apiHost: null }, 'is not known'],
  ])('stops the start where %s is wrong: %j', async (member, wrong, problem) => {
    const environment = await withFile({ ...facts, ...wrong });
    await expect(read(environment)).rejects.toThrow(`OPERATOR_FILE: ${file}: ${member} ${problem}`);
  });

  it('stops the start where it is none', async () => {
    await expect(read(await withFile('{,}'))).rejects.toThrow(`OPERATOR_FILE: ${file} is not JSON.`);
    await expect(read(await withFile('[]'))).rejects.toThrow(`OPERATOR_FILE: ${file}: it must be an object.`);
    await rm(file);
    await expect(read({ OPERATOR_FILE: file })).rejects.toThrow(`OPERATOR_FILE: ${file} can't be read.`);
  });
});
