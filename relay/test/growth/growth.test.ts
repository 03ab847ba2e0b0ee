import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../helpers.ts';
import { live, type Plan, placeBytes, type Size } from './year.ts';

const isReport = process.env.GROWTH_DAYS !== undefined;
/** `npm run bench:growth` sets a year. */
const plan: Plan = isReport
  ? {
      people: Number(process.env.GROWTH_PEOPLE),
      contacts: 3,
      days: Number(process.env.GROWTH_DAYS),
      messages: Number(process.env.GROWTH_MESSAGES),
      retention: { days: 90, historyDays: 180 },
    }
  : { people: 10, contacts: 2, days: 30, messages: 8, retention: { days: 8, historyDays: 8 } };

/** By then everything that comes in a day takes the place of something that goes. */
const settled = Math.max(plan.retention.days, plan.retention.historyDays ?? 0) + 1;

let dataDir: string;
beforeEach(async () => {
  dataDir = await temporaryFolder();
});
afterEach(() => rm(dataDir, { recursive: true }));

const MB = (bytes: number) => (bytes / 1e6).toFixed(1).padStart(8);

it(`a relay of ${plan.people} people keeps no more after ${plan.days} days than what retention leaves`, {
  timeout: 4 * 60 * 60 * 1000,
}, async () => {
  const sizes: Size[] = [];
  await live(dataDir, plan, (size) => {
    sizes.push(size);
    if (!isReport || (size.day % 30 !== 0 && size.day !== plan.days)) return;
    process.stdout.write(
      `day ${String(size.day).padStart(4)}: ${String(size.entries).padStart(9)} entries, MB: ${MB(size.stored)} ` +
        `of content stored, ${MB(size.kept)} kept, ${MB(size.copies)} of copies, ${MB(size.file)} in the file\n`,
    );
  });
  const [then, last] = [sizes[settled - 1], sizes.at(-1)];
  if (then === undefined || last === undefined) throw new Error('no days');
  // Every fifth conversation has somebody with a browser that never comes back; commits come weekly.
  expect(last.kept).toBeLessThan(1.2 * then.kept);
  expect(last.kept).toBeLessThan(0.6 * last.stored);
  expect(last.copies).toBeLessThan(1.05 * then.copies);
  // Only the places of entries are added.
  const added = last.entries - then.entries;
  expect(last.file - then.file).toBeLessThan(added * placeBytes + 0.1 * then.file);
  expect(last.file).toBeLessThan(last.stored + 2 * last.copies + last.entries * placeBytes);
});
