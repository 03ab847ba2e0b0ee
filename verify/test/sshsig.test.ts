import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isSignedBy, parseSigningKey } from '../src/chain/sshsig.ts';
import { fingerprintOf } from '../src/making.ts';
import { armored, newHolder } from './support/keys.ts';

const message = Buffer.from('{"type":"sinetti-release"}');
const folder = mkdtempSync(path.join(tmpdir(), 'sinetti-sshsig-'));
afterAll(() => rmSync(folder, { recursive: true }));

const kinds = [
  ['a key in a file', {}],
  ['a security key', { application: 'ssh:sinetti' }],
] as const;

/** Returns the code of what is refused, or the answer. */
async function outcome(verify: () => unknown): Promise<unknown> {
  try {
    return await verify();
  } catch (error) {
    return (error as { code: string }).code;
  }
}

describe.each(kinds)('the fingerprint of %s', (_, options) => {
  it('is the one that ssh-keygen says', async () => {
    const { line } = newHolder(options);
    const file = path.join(folder, 'printed.pub');
    writeFileSync(file, `${line}\n`);
    const said = execFileSync('ssh-keygen', ['-l', '-f', file], { encoding: 'utf8' });
    expect(said.split(' ')).toContain(fingerprintOf(line));
  });
});

describe.each(kinds)('a signature of %s', (_, options) => {
  const holder = newHolder(options);
  const key = parseSigningKey(holder.line);
  const signature = holder.sign(message);

  it.each(['sha256', 'sha512'] as const)('holds over its message, hashed by %s', async (hash) => {
    expect(await isSignedBy(key, message, holder.sign(message, { hash }))).toBe(true);
  });

  it('holds over no other message, for no other key and no other purpose', async () => {
    expect(await isSignedBy(key, Buffer.from('{}'), signature)).toBe(false);
    expect(await isSignedBy(parseSigningKey(newHolder(options).line), message, signature)).toBe(false);
    expect(await isSignedBy(key, message, holder.sign(message, { namespace: 'git' }))).toBe(false);
  });

  it('holds with no byte changed, left out or added', async () => {
    const body = signature.split('\n').slice(1, -2).join('');
    const bytes = Buffer.from(body, 'base64');
    for (const at of bytes.keys()) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect([at, await outcome(() => isSignedBy(key, message, armored(changed)))]).not.toEqual([at, true]);
      const cut = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]);
      expect([at, await outcome(() => isSignedBy(key, message, armored(cut)))]).not.toEqual([at, true]);
    }
    expect(
      await outcome(() => isSignedBy(key, message, armored(Buffer.concat([bytes, Buffer.from([0])])))),
    ).toBe('malformed');
  });

  it('is verified by ssh-keygen, too', async () => {
    const signers = path.join(folder, 'allowed_signers');
    writeFileSync(signers, `anna namespaces="sinetti-release" ${holder.line}\n`);
    writeFileSync(path.join(folder, 'statement.sig'), signature);
    const verify = (content: Uint8Array) =>
      execFileSync(
        'ssh-keygen',
        [
          ['-Y', 'verify', '-f', signers, '-I', 'anna'],
          ['-n', 'sinetti-release', '-s', path.join(folder, 'statement.sig')],
        ].flat(),
        { input: content, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] },
      );
    expect(verify(message)).toContain('Good "sinetti-release" signature for anna');
    expect(() => verify(Buffer.from('{}'))).toThrow('Command failed');
  });
});

describe('signatures', () => {
  it('that ssh-keygen makes hold here', async () => {
    const holder = newHolder();
    const file = path.join(folder, 'key');
    writeFileSync(file, holder.file ?? '', { mode: 0o600 });
    const statement = path.join(folder, 'release.json');
    writeFileSync(statement, message);
    execFileSync('ssh-keygen', ['-Y', 'sign', '-n', 'sinetti-release', '-f', file, statement], {
      stdio: 'ignore',
    });
    const signature = readFileSync(`${statement}.sig`, 'latin1');
    const key = parseSigningKey(holder.line);
    expect(await isSignedBy(key, message, signature)).toBe(true);
    expect(await isSignedBy(key, Buffer.from('{}'), signature)).toBe(false);
  });

  it('of a security key that nobody touched prove nothing', async () => {
    const holder = newHolder({ application: 'ssh:' });
    const key = parseSigningKey(holder.line);
    expect(await isSignedBy(key, message, holder.sign(message, { flags: 0 }))).toBe(false);
  });

  it.each([
    ['without its first line', (text: string) => text.split('\n').slice(1).join('\n')],
    ['with something before it', (text: string) => `\n${text}`],
    ['with something after it', (text: string) => `${text}\n`],
    ['with a mark that is no base64', (text: string) => text.replace('\nU', '\n U')],
    ['that is empty', () => ''],
  ])('%s are refused', async (_, change) => {
    const holder = newHolder();
    const key = parseSigningKey(holder.line);
    expect(await outcome(() => isSignedBy(key, message, change(holder.sign(message))))).toBe('malformed');
  });

  it.each([
    ['of RSA', 'ssh-rsa AAAAB3NzaC1yc2EAAAABIwAAAAEA'],
    ['under another type', newHolder().line.replace('ssh-ed25519', 'ssh-rsa')],
    ['with a comment', `${newHolder().line} anna@example.org`],
    ['that is cut short', newHolder().line.slice(0, -4)],
    ['without its type', newHolder().line.split(' ')[1] ?? ''],
  ])('are made by no key %s', async (_, line) => {
    expect(await outcome(() => parseSigningKey(line) === null)).toBe('malformed');
  });
});
