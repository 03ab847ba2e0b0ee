import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { uploadLimits } from '../contract/blobs.ts';
import { limits } from '../contract/index.ts';
import { readConfig } from '../src/config.ts';
import { keyPackageLifetime } from '../src/devices/devices.ts';
import { groupInvitationLifetime } from '../src/groups/invitations.ts';
import { strayAfter } from '../src/jobs/blobs.ts';
import { closedReportLifetime, formerVaultLifetime, purgeAfter } from '../src/jobs/purge.ts';
import { keptAtLeast } from '../src/jobs/retention.ts';
import { clockTolerance } from '../src/jobs/unneeded.ts';
import { fullTree, unnamedFor } from '../src/messaging/trees.ts';
import { personQuotas } from '../src/personQuotas.ts';
import { rowBytes } from '../src/repositories/trees.ts';
import { placeBytes } from './growth/year.ts';

const folder = path.resolve(import.meta.dirname, '..');
/** A page as one line: where its lines break says nothing. */
const page = async (name: string) =>
  (await readFile(path.resolve(folder, name), 'utf8')).replace(/\s+/g, ' ');

const number = (count: number) => count.toLocaleString('en');
const MiB = (bytes: number) => `${number(bytes / 1024 ** 2)} MiB`;
const minutes = (ms: number) => ms / 60_000;
const days = (ms: number) => ms / 86_400_000;
const words: Readonly<Record<number, string>> = { 1: 'an', 5: 'five', 7: 'seven', 10: 'ten', 30: 'thirty' };
const inWords = (count: number) => words[count] ?? String(count);

const { blobs, retention } = readConfig({});
const quotas = personQuotas;

it.each([
  `within ${inWords(minutes(clockTolerance))} minutes after`,
  `${inWords(minutes(keptAtLeast))} minutes after it came at the earliest, and ${retention.days} days at the latest (\`RETENTION_DAYS\`)`,
  `some ${placeBytes} bytes an entry`,
  `groups of more than ${limits.peopleWithReceipts} people`,
  `${inWords(minutes(unnamedFor))} minutes after they came at the earliest. A group has ${MiB(fullTree)} of them at most, each counted with ${rowBytes} bytes`,
  `**Files** ${blobs.days} days after they became whole (\`BLOB_DAYS\`)`,
  `files without a row, ${inWords(minutes(strayAfter) / 60)} hour after`,
  `${days(keyPackageLifetime)} days after they were published`,
  `${MiB(quotas.storedBytesPerUser)} of content in entries that are kept, of which the messages to own devices, drafts and notes, leave half`,
  `${number(quotas.entriesADay)} entries a day (UTC), since their places stay, ${(quotas.entriesADay * placeBytes) / 1e6} MB of them`,
  `${MiB(quotas.welcomeBytesPerUser)} of Welcomes that wait`,
  `${MiB(quotas.groupInfoBytesPerUser)} of GroupInfos and trees of groups they have created`,
  `Beyond the ${MiB(quotas.groupInfoBytesPerUser)} of GroupInfos`,
  `${MiB(quotas.keyPackageBytesPerUser)} of KeyPackages`,
  `${MiB(limits.historyBytesPerUser)} of sealed copies`,
  `${blobs.quotaBytes / 1024 ** 3} GiB of files (\`BLOB_QUOTA_MIB\`)`,
  `${uploadLimits.unfinished} uploads that are not whole`,
  `${MiB(limits.accountStateMax)} of account state`,
  `${limits.groupsPerUser} groups`,
  `${number(quotas.requestsSentPerUser)} contact requests sent and ${number(quotas.requestsReceivedPerUser)} received`,
  `${quotas.groupInvitationsPerUser} invitations to groups that wait for an answer, each for ${days(groupInvitationLifetime)} days`,
  `the vault before, for ${inWords(days(formerVaultLifetime))} days`,
  `${days(closedReportLifetime)} days after the operator has closed it`,
  `keep their content for ${days(purgeAfter)} days`,
])('the page of what is kept says it as it is: %s', async (sentence) => {
  expect(await page('DATA.md')).toContain(sentence);
});

it('both halves that it speaks of are halves', () => {
  expect(quotas.storedBytesForOwnDevices * 2).toBe(quotas.storedBytesPerUser);
  expect(quotas.entriesADayForOwnDevices * 2).toBe(quotas.entriesADay);
});

it('the place of an entry takes as much on each page', async () => {
  expect(await page('SCALE.md')).toContain(`places of entries alone: 8 MB a month, ${placeBytes} bytes each`);
  expect(await page('../docs/HOSTING.md')).toContain(`the place of a message takes ${placeBytes} bytes`);
});
