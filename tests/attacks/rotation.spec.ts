import {
  openShared,
  openVault,
  passwordKeys,
  type SharedKeys,
  unwrapVaultKey,
  type Vault,
} from '../../crypto-core/src/account/index.ts';
import { ready } from '../../crypto-core/src/index.ts';
import type { Person } from '../e2e/support/person.ts';
import type { RunningRelay } from '../e2e/support/relay.ts';
import { expect, test, type World } from '../e2e/support/test.ts';
import { openStolen, sharedKeysIn, stealRecords, stealStorageKey } from './support/stolen.ts';
import { startWithout, type Wall } from './support/withoutWall.ts';

// A thief with the disk of a browser, an old password, and all that the relay has and ever had.

const worker = 'dist/keys/assets/crypto.worker-*.js';
const walls: readonly Wall[] = [
  {
    // Keys that the browsers share are drawn anew with each vault.
    file: worker,
    text: /(?<=\.\.\.([\w$])\.sharedKeys,)[\w$]{1,3}\(([\w$]),[\w$]\)(?=\]\.slice\(-500\))/,
    without: '{...$1.sharedKeys.at(-1),revision:$2}',
  },
  {
    // So is the key that the vault is sealed under.
    file: worker,
    text: /(?<=formerStorageKey:null\}\}function [\w$]{1,3}\(([\w$])\)\{return )\1\.random\(32\)/,
    without: 'new Uint8Array(32).fill(1)',
  },
  {
    // The account seed is in the vault alone.
    file: worker,
    text: /(?<=delete\([`"]vault[`"]\),)(?=await [\w$]{1,3}\(([\w$]),([\w$]),([\w$])\),)/,
    without:
      "await $1.objectStore('device').put($2.sealer.seal('device','seed',{seed:$3.vault.accountSeed}),'seed'),",
  },
];

const notes = ['Before the theft.', 'After the removal.', 'After the new password.'] as const;
const newPassword = 'another horse battery';

async function writeNote({ page }: Person, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Write a note' }).fill(text);
  await page.keyboard.press('Enter');
}

interface Copy {
  readonly id: string;
  readonly conversation_id: string;
  readonly sealed: Uint8Array;
}

const bytes = (column: Uint8Array) => new Uint8Array(column);

/** All that the relay keeps for this story, as a backup of its database would have it. */
function backUp(relay: RunningRelay) {
  return relay.inDatabase((db) => {
    const user = db.prepare('select * from users').get() as {
      id: string;
      password_salt: Uint8Array;
      password_ops_limit: number;
      password_mem_limit: number;
    };
    const vault = db.prepare('select * from vaults').get() as {
      sealed_vault: Uint8Array;
      password_wrap: Uint8Array;
    };
    const copies = db
      .prepare("select * from history_items where conversation_id like 'self:%' order by position")
      .all() as Copy[];
    return { copies, user, vault };
  });
}

type Backup = ReturnType<typeof backUp>;

/** Writes a note and waits until the relay has its copy. */
async function noteIsCopied(relay: RunningRelay, alice: Person, text: string): Promise<Backup> {
  const { copies } = backUp(relay);
  await writeNote(alice, text);
  await expect.poll(() => backUp(relay).copies.length).toBe(copies.length + 1);
  return backUp(relay);
}

/** The notes whose copies open under keys, whatever revision these are called by. */
function read({ copies }: Backup, keys: readonly SharedKeys[]): string[] {
  return notes.filter((note) =>
    copies.some(({ conversation_id: conversationId, id, sealed }) =>
      keys.some((key) => {
        const revision = new DataView(bytes(sealed).buffer).getUint32(0);
        const opened = attempt(() =>
          openShared('history', [{ ...key, revision }], `${conversationId}/${id}`, bytes(sealed)),
        );
        return opened !== null && Buffer.from(opened).includes(note);
      }),
    ),
  );
}

function attempt<T>(open: () => T): T | null {
  try {
    return open();
  } catch {
    return null;
  }
}

/** Opens the vaults of all backups by a password, and by each key that it gives. */
function openVaults(password: string, backups: readonly Backup[]): Vault[] {
  const wrapKeys = new Map<string, Uint8Array>();
  // A password takes a second with each salt, and gets another salt only when it is changed.
  const wrapKeyOf = ({ user }: Backup): Uint8Array => {
    const salt = bytes(user.password_salt);
    const limits = { opsLimit: user.password_ops_limit, memLimitBytes: user.password_mem_limit };
    const kept = wrapKeys.get(salt.join());
    const { wrapKey } = kept === undefined ? passwordKeys(password, { salt, ...limits }) : { wrapKey: kept };
    wrapKeys.set(salt.join(), wrapKey);
    return wrapKey;
  };
  const keys = backups.flatMap(
    (backup) => attempt(() => unwrapVaultKey(bytes(backup.vault.password_wrap), wrapKeyOf(backup))) ?? [],
  );
  return backups.flatMap(({ user, vault }) =>
    keys.flatMap((key) => attempt(() => openVault(bytes(vault.sealed_vault), key, user.id).vault) ?? []),
  );
}

/** Steals, then has a browser removed and the password changed. @returns what the thief has of it in the end */
async function steal(relay: RunningRelay, newBrowser: World['newBrowser']) {
  await ready();
  const { person: laptop } = await newBrowser('alice');
  await laptop.signUp();
  const { page, prompt } = laptop;
  await laptop.tab('Contacts').click();
  await page.getByRole('button', { name: 'Notes to self' }).click();
  const { person: phone } = await newBrowser('alice');
  await phone.logIn();
  const before = await noteIsCopied(relay, laptop, notes[0]);
  const keys = phone.page.frames().find((frame) => frame.url().endsWith('/keys'));
  if (keys === undefined) throw new Error('the page has no frame of the keys');
  const disk = openStolen(await keys.evaluate(stealStorageKey), await keys.evaluate(stealRecords));

  await laptop.tab('Profile').click();
  await page.getByRole('button', { name: /^Remove (?!device)/ }).click();
  await page.getByRole('button', { name: 'Remove device' }).click();
  await laptop.confirmWithPassword();
  await expect(phone.page.getByRole('alert')).toContainText('removed from your account');
  await laptop.tab('Messages').click();
  const removed = await noteIsCopied(relay, laptop, notes[1]);

  await laptop.tab('Profile').click();
  await page.getByRole('button', { name: 'Change password' }).click();
  await prompt.getByLabel('Current password').fill(laptop.password);
  await prompt.getByLabel('New password', { exact: true }).fill(newPassword);
  await prompt.getByLabel('New password again').fill(newPassword);
  await prompt.getByLabel('New password again').press('Enter');
  await expect(laptop.toast('Your password was changed.')).toBeVisible();
  await laptop.tab('Messages').click();
  const changed = await noteIsCopied(relay, laptop, notes[2]);

  const vaults = openVaults(laptop.password, [before, removed, changed]);
  const [present] = openVaults(newPassword, [changed]);
  if (present === undefined) throw new Error('the person has lost their vault');
  const seed = Buffer.from(present.accountSeed).toString('base64url');
  return {
    'by the disk': read(changed, sharedKeysIn(disk)),
    'by the old password': read(
      changed,
      vaults.flatMap(({ sharedKeys }) => sharedKeys),
    ),
    'certifies by the disk': disk.includes(seed),
    // SECURITY.md says so: only another account key ends it.
    'certifies by the old password': vaults.some(
      ({ accountSeed }) => Buffer.from(accountSeed).toString('base64url') === seed,
    ),
    'by the present password': read(changed, present.sharedKeys),
  };
}

const always = { 'certifies by the old password': true, 'by the present password': [...notes] };

// Two tests, so that they run beside each other.
test('who has a removed browser or an old password, and the relay, reads nothing that comes after', async ({
  newBrowser,
  relay,
}) => {
  expect(await steal(relay, newBrowser)).toEqual({
    ...always,
    'by the disk': notes.slice(0, 1),
    'by the old password': notes.slice(0, 2),
    'certifies by the disk': false,
  });
});

test('not so, but without its wall: who has a removed browser or an old password, and the relay, reads what comes after', async ({
  newBrowser,
}) => {
  const open = await startWithout(walls);
  try {
    const there: World['newBrowser'] = (username, options) =>
      newBrowser(username, { baseURL: open.url, ...options });
    expect(await steal(open, there)).toEqual({
      ...always,
      'by the disk': [...notes],
      'by the old password': [...notes],
      'certifies by the disk': true,
    });
  } finally {
    await open.stop();
  }
});
