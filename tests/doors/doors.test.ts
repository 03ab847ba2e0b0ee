import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { doors } from '../../build/doors.mjs';
import { projectFiles, root } from '../support/projectFiles.ts';

/** The linter's configuration has each door for this folder too. */
const fixtures = 'tests/doors/fixtures';
const run = promisify(execFile);

/** Imports that must be refused, by the room or file that has them, with what the refusal begins with. */
const refused: readonly (readonly [file: string, imported: string, door: string])[] = [
  ['crypto-core/src/layers.ts', './codec/reader.ts', 'Door 1'],
  ['crypto-core/src/index.ts', 'node:http', 'Door 1'],
  ['crypto-core/src/codec/x.ts', '../suite/sodium.ts', 'Door 1'],
  ['crypto-core/src/suite/x.ts', '../structs/commit.ts', 'Door 1'],
  ['crypto-core/src/suite/y.ts', 'libsodium-wrappers', 'Door 1'],
  ['crypto-core/src/suite/sodium.ts', 'node:crypto', 'Door 1'],
  ['crypto-core/src/structs/x.ts', '../tree/math.ts', 'Door 1'],
  ['crypto-core/src/tree/x.ts', '../schedule/keySchedule.ts', 'Door 1'],
  ['crypto-core/src/schedule/x.ts', '../framing/privateMessage.ts', 'Door 1'],
  ['crypto-core/src/framing/x.ts', '../group/create.ts', 'Door 1'],
  ['crypto-core/src/group/x.ts', '../account/vault.ts', 'Door 1'],
  ['crypto-core/src/account/x.ts', '../group/create.ts', 'Door 1'],
  ['crypto-core/src/content/x.ts', '../group/create.ts', 'Door 1'],
  ['crypto-core/src/vectors/x.ts', '../account/vault.ts', 'Door 1'],
  ['workers/crypto.worker.ts', 'idb', 'Door 2'],
  ['workers/crypto.worker.ts', './storage/db.ts', 'Door 2'],
  ['workers/codec/x.ts', '../api/errors.ts', 'Door 2'],
  ['workers/api/x.ts', '../storage/db.ts', 'Door 2'],
  ['workers/storage/x.ts', 'idb', 'Door 2'],
  ['workers/storage/y.ts', '../session/session.ts', 'Door 2'],
  ['workers/storage/db.ts', 'comlink', 'Door 2'],
  ['workers/session/x.ts', '../identity/pins.ts', 'Door 2'],
  ['workers/identity/x.ts', '../conversation/mlsGroup.ts', 'Door 2'],
  ['workers/conversation/x.ts', '../messaging/outbox.ts', 'Door 2'],
  ['workers/conversation/rules/x.ts', '../../messaging/outbox.ts', 'Door 2'],
  ['workers/trust/x.ts', '../backup/messageBackup.ts', 'Door 2'],
  ['workers/backup/x.ts', '../trust/trust.ts', 'Door 2'],
  ['workers/messaging/x.ts', '../../crypto-core/src/suite/sodium.ts', 'Door 2'],
  ['workers/messaging/y.ts', 'ky', 'Door 2'],
  ['workers/entry/x.ts', '../../src/net/http.ts', 'Door 2'],
  ['workers/entry/proof.ts', '../session/session.ts', 'Door 2'],
  ['workers/frame/x.ts', '../storage/db.ts', 'Door 2'],
  ['workers/frame/y.ts', '../../src/lib/clock.ts', 'Door 2'],
  ['workers/frame/z.ts', 'comlink', 'Door 2'],
  ['src/crypto/x.ts', '../../workers/identity/account.ts', 'Door 3'],
  ['src/crypto/y.ts', 'libsodium-wrappers', 'Door 3'],
  ['src/crypto/w.ts', '../../workers/frame/startWorker.ts', 'Door 3'],
  ['src/crypto/z.ts', '../net/http.ts', 'Door 3'],
  ['src/app/x.ts', '@sinetti/crypto-core', 'Door 4'],
  ['workers/messaging/x.ts', '@sinetti/crypto-core/src/index.ts', 'Door 2'],
  ['src/app/y.ts', '../../workers/api/cryptoApi.ts', 'Door 4'],
  ['src/pages/dashboard/x.ts', '../../net/http.ts', 'Door 4'],
  ['src/pages/dashboard/y.ts', '../../app/bootstrap.ts', 'Door 4'],
  ['src/features/messages/x.ts', '../contacts/ContactGrid.tsx', 'Door 4'],
  ['src/features/messages/y.ts', '../../net/http.ts', 'Door 4'],
  ['src/features/messages/z.ts', '../../app/bootstrap.ts', 'Door 4'],
  ['src/store/x.ts', '../net/http.ts', 'Door 4'],
  ['src/store/schema.ts', 'zod', 'Door 4'],
  ['src/store/y.ts', '../crypto/client.ts', 'Door 4: src/store imports types only'],
  ['src/ui/x.ts', '../store/toasts.ts', 'Door 4'],
  ['src/ui/y.ts', 'jotai', 'Door 4'],
  ['src/ui/z.ts', '../features/conversation/timeline.ts', 'Door 4'],
  ['src/i18n/x.ts', '../store/toasts.ts', 'Door 4'],
  ['src/operator/x.ts', '../store/toasts.ts', 'Door 4'],
  ['src/lib/x.ts', '../store/toasts.ts', 'Door 4'],
  ['src/services/core/x.ts', '../conversations/sync.ts', 'Door 5'],
  ['src/services/core/y.ts', '../../ui/Button.tsx', 'Door 5'],
  ['src/services/conversations/x.ts', '../groups/groupList.ts', 'Door 5'],
  ['src/services/people/x.ts', '../account/devices.ts', 'Door 5'],
  ['src/services/account/x.ts', '../session/session.ts', 'Door 5'],
  ['src/services/session/x.ts', '../client/client.ts', 'Door 5'],
  ['src/services/groups/x.ts', '../people/contacts.ts', 'Door 5'],
  ['src/services/backup/x.ts', '../../../workers/api/cryptoApi.ts', 'Door 5'],
  ['src/services/proof/x.ts', '../conversations/sync.ts', 'Door 5'],
  ['src/services/export/x.ts', '../conversations/sync.ts', 'Door 5'],
  ['src/services/export/archive.ts', '../conversations/sync.ts', 'Door 5'],
  ['src/services/files/x.ts', '../groups/groupList.ts', 'Door 5'],
  ['src/services/files/streams.ts', '../groups/groupList.ts', 'Door 5'],
  ['src/services/client/x.ts', '@sinetti/relay/contract', 'Door 5'],
  ['src/net/x.ts', '../store/toasts.ts', 'Door 5'],
  ['src/net/y.ts', 'ky', 'Door 5'],
  ['src/lib/passwordRating.ts', 'ky', 'Door 4'],
  ['src/lib/links.ts', 'markdown-it', 'Door 4'],
  ['src/lib/markdown.ts', 'ky', 'Door 4'],
  ['src/net/blobs.ts', 'ky', 'Door 5'],
  ['src/net/emails.ts', 'ky', 'Door 5'],
  ['src/net/http.ts', 'mqtt', 'Door 5'],
  ['src/net/mqtt.ts', 'ky', 'Door 5'],
  ['src/serviceWorker/x.ts', '../net/api.ts', 'Door 5'],
  // A file in no room, and a path that only looks as if it stayed in one.
  ['workers/newroom/x.ts', '../storage/db.ts', 'Door 2'],
  ['src/newroom/x.ts', '../net/http.ts', 'Door 4'],
  ['src/services/x.ts', '../net/http.ts', 'Door 5'],
  ['workers/messaging/round.ts', './../../src/net/http.ts', 'Door 1 to 7'],
  ['workers/messaging/down.ts', '../codec/../../src/net/http.ts', 'Door 1 to 7'],
  ['src/pages/dashboard/round.ts', '../../ui/../../crypto-core/src/index.ts', 'Door 1 to 7'],
  ['src/store/round.ts', './../net/http.ts', 'Door 1 to 7'],
  ['crypto-core/src/group/round.ts', '../tree/../../../workers/api/errors.ts', 'Door 1 to 7'],
  ['relay/src/routes/round.ts', './../../../crypto-core/src/index.ts', 'Door 1 to 7'],
  ['relay/src/routes/modules.ts', '../../../node_modules/@sinetti/crypto-core/src/index.ts', 'Door 1 to 7'],
  // Names for tests.
  ['crypto-core/src/codec/alias.ts', '#src/lib/clock.ts', 'Door 1 to 7: only tests'],
  ['workers/messaging/alias.ts', '#src/net/http.ts', 'Door 1 to 7: only tests'],
  ['src/features/messages/alias.ts', '#src/features/conversation/timeline.ts', 'Door 1 to 7: only tests'],
  ['src/store/alias.ts', '#workers/api/errors.ts', 'Door 1 to 7: only tests'],
  ['relay/contract/alias.ts', '#src/lib/clock.ts', 'Door 1 to 7: only tests'],
  ['relay/src/routes/alias.ts', '#src/lib/clock.ts', 'Door 1 to 7: only tests'],
  ['relay/src/repositories/alias.ts', '#relay/src/errors.ts', 'Door 1 to 7: only tests'],
  ['build/alias.ts', '#src/operator/index.ts', 'Door 1 to 7: only tests'],
  ['relay/src/routes/mls.ts', 'ts-mls', 'Door 6: the relay cannot decrypt'],
  ['relay/src/routes/require.ts', 'node:module', 'Door 6: the relay cannot decrypt'],
  ['relay/src/routes/pg.ts', 'pg', 'Door 6: SQL stays'],
  ['relay/contract/x.ts', 'fastify', 'Door 6'],
  ['relay/contract/y.ts', '../src/app.ts', 'Door 6'],
  ['verify/src/x.ts', '../../relay/src/http/headers.ts', 'Door 7'],
  ['verify/src/open/x.ts', 'zod', 'Door 7'],
  ['verify/src/chain/x.ts', 'node:crypto', 'Door 7'],
  ['src/serviceWorker/x.ts', '../../verify/src/relay.ts', 'Door 5'],
  ['relay/src/routes/x.ts', '../../../src/lib/log.ts', 'Door 6: the relay cannot decrypt'],
  ['relay/src/routes/y.ts', '@sinetti/crypto-core', 'Door 6: the relay cannot decrypt'],
  ['relay/src/routes/z.ts', 'kysely', 'Door 6: SQL stays'],
  ['relay/src/repositories/x.ts', '../routes/account.ts', 'Door 6: database code'],
  ['relay/src/db/x.ts', '../mqtt/gateway.ts', 'Door 6: database code'],
  ['relay/src/db/y.ts', '../messaging/append.ts', 'Door 6: database code'],
];

/** Two files that import nothing but types of each other, in one room. */
const circle: readonly (readonly [file: string, imported: string])[] = [
  ['src/store/one.ts', './two.ts'],
  ['src/store/two.ts', './one.ts'],
];

/** Imports of the kinds that the rooms live by. */
const accepted: readonly (readonly [file: string, imported: string])[] = [
  ['crypto-core/src/group/ok.ts', '../framing/publicMessage.ts'],
  ['workers/conversation/rules/ok.ts', '../leaveStatements.ts'],
  ['workers/messaging/ok.ts', '@sinetti/crypto-core'],
  ['workers/messaging/ok.ts', '@sinetti/crypto-core/account'],
  ['src/features/messages/ok.ts', '../conversation/timeline.ts'],
  ['src/features/messages/okay.ts', 'jotai'],
  ['src/pages/dashboard/ok.ts', '../../features/messages/Chat.tsx'],
  ['src/services/groups/ok.ts', '../../lib/clock.ts'],
  ['relay/src/repositories/ok.ts', 'kysely'],
];

interface Finding {
  readonly filename: string;
  readonly code: string;
  readonly help?: string;
}

async function lint(): Promise<Finding[]> {
  const answer = await run(
    'node_modules/.bin/oxlint',
    ['-c', 'oxlint.config.mjs', '--no-ignore', '--format', 'json', fixtures],
    { cwd: root, maxBuffer: 16 * 1024 * 1024 },
  ).catch((failed: { stdout: string }) => failed);
  const { diagnostics } = JSON.parse(answer.stdout) as { diagnostics: Finding[] };
  return diagnostics;
}

describe('the doors between rooms', () => {
  let findings: Finding[] = [];
  let cycles: Finding[] = [];

  async function writeFixture(file: string, text: string): Promise<void> {
    const target = path.join(root, fixtures, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, text);
  }

  beforeAll(async () => {
    const imports = new Map<string, string[]>();
    for (const [file, imported] of [...refused, ...accepted]) {
      imports.set(file, [...(imports.get(file) ?? []), imported]);
    }
    for (const [file, names] of imports) {
      await writeFixture(file, names.map((name, i) => `export { x as x${i} } from '${name}';\n`).join(''));
    }
    for (const [file, imported] of circle) {
      await writeFixture(file, `import type { X } from '${imported}';\nexport type { X };\n`);
    }
    const all = await lint();
    findings = all.filter(({ code }) => code.includes('no-restricted-imports'));
    cycles = all.filter(({ code }) => code.includes('no-cycle'));
  });
  afterAll(() => rm(path.join(root, fixtures), { recursive: true }));

  const of = (file: string) =>
    findings.filter(({ filename }) => filename.endsWith(`/${file}`)).map(({ help }) => help ?? '');

  it.each(refused)('refuse %s the import of %s', (file, imported, door) => {
    const helps = of(file);
    expect(helps.length).toBeGreaterThanOrEqual(refused.filter(([other]) => other === file).length);
    expect(
      helps.some((help) => help.startsWith(door)),
      `${imported}: ${helps.join(' ')}`,
    ).toBe(true);
  });

  it.each(accepted)('let %s import %s', (file) => {
    expect(of(file)).toEqual([]);
  });

  it.each(circle)('refuse a circle of types that %s is in', (file) => {
    expect(cycles.some(({ filename }) => filename.endsWith(`/${file}`))).toBe(true);
  });

  it('are each shown by an import that they refuse', () => {
    const shown = new Set(findings.map(({ help }) => help));
    const messages = doors.flatMap(({ patterns }) => patterns.map(({ message }) => message));
    expect(messages.filter((message) => !shown.has(message))).toEqual([]);
  });

  it('are not passed by a form of import that the linter does not compare', () => {
    const files = projectFiles('crypto-core/src', 'workers', 'src', 'relay/src', 'relay/contract').filter(
      (file) => /\.[cm]?[jt]sx?$/.test(file),
    );
    expect(files.length).toBeGreaterThan(500);
    const unseen =
      /\bimport\((?!\s*['"])|\brequire\s*\(|\bcreateRequire\b|import\.meta\.glob|new URL\([^)]*import\.meta|oxlint-disable[^\n]*(?:no-restricted-imports|\*\/$)|eslint-disable/m;
    const found = files.filter((file) => unseen.test(readFileSync(path.join(root, file), 'utf8')));
    // The thread of SQLite is entered by its address.
    expect(found).toEqual(['relay/src/messaging/append/threadEntry.ts']);
    const starters = files.filter((file) => /new Worker\(/.test(readFileSync(path.join(root, file), 'utf8')));
    expect(starters).toEqual(['relay/src/db/sqlite/thread/client.ts', 'workers/frame/startWorker.ts']);
  });
});
