import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#workers/codec/limits.ts';
import { absentDevices } from './support/absentDevices.ts';
import { createWorld, type TestDevice, type World } from './support/device.ts';
import { isHashed, type Lie, LogPlay, lies, type Player } from './support/logPlay.ts';

const seed = process.env['SINETTI_TEST_SEED'] ?? randomBytes(4).toString('hex');
const runs = Number(process.env['SINETTI_LOG_RUNS'] ?? 24);
const BATCHES = 6;

let world: World;
/** Three people; the second has a second device. */
let devices: TestDevice[];

beforeAll(async () => {
  world = createWorld(`lies ${seed}`);
  devices = [];
  for (const person of [1, 2, 2, 3]) {
    devices.push(await world.device(`${person}0000000-0000-4000-8000-000000000000`));
  }
});

const [first, second, another, third] = [0, 1, 2, 3];

interface Play {
  readonly game: LogPlay;
  readonly id: string;
  readonly isDirect: boolean;
}

/** A group of three people with four devices, or of two with three, some of them with sixteen more; or the direct conversation of two with three. */
async function play(run: number): Promise<Play> {
  const isDirect = run % (2 * lies.length) >= lies.length;
  const taking = isDirect || run % 3 === 0 ? [first, second, another] : [first, second, another, third];
  const present = taking.map((at) => devices[at] as TestDevice);
  const others = [...new Set(present.slice(1).map(({ userId }) => userId))];
  const [creator] = present as [TestDevice];
  const id = isDirect ? `direct:${[creator.userId, ...others].join(':')}` : `group:${world.relay.uuid()}`;
  if (isDirect) await creator.start(id);
  else if (run % 5 === 1) await createLargeGroup(creator, id, others);
  else await creator.createGroup(id, 'Play', others);
  const game = new LogPlay(world, id, present, `${seed}/${run}`);
  for (const player of game.players) await game.read(player);
  return { game, id, isDirect };
}

/** Creates a group whose tree is beside its GroupInfos, with members who are never heard of. */
async function createLargeGroup(creator: TestDevice, id: string, others: readonly string[]): Promise<void> {
  await creator.createGroup(id, 'Play');
  const keyPackages = absentDevices(limits.devicesWithTreeInside);
  creator.submit(await creator.api.addMembers({ conversationId: id, keyPackages }));
  await creator.syncOne(id);
  await creator.add(id, others);
  expect(world.relay.log(id).treeHash).not.toBeNull();
}

/** Nothing can be read in an epoch of which the beginning was left out. */
const isUnread = (texts: readonly string[]) => texts.every((text) => text === '(damaged)');

/** Expects that a device shows by itself that something is wrong, where no log differs in what running hashes are of. */
async function expectShown(
  game: LogPlay,
  lie: Lie,
  victim: Player,
  others: readonly Player[],
): Promise<void> {
  expect(await game.alarmed()).toEqual([]);
  const { after, isTimeBelieved } = await game.shownOf(victim);
  const isShown = lie === 'retime' ? !isTimeBelieved : after.length > 0 && isUnread(after);
  expect({ lie, isShown, after }).toEqual({ lie, isShown: true, after });
  const seen = await Promise.all(others.map((other) => game.shownOf(other)));
  expect(seen.filter((one) => !one.isTimeBelieved)).toEqual([]);
}

/** Lets go of the conversation everywhere: the two people's next play begins it anew. */
async function end(game: LogPlay, id: string): Promise<void> {
  for (const { device } of game.players) await device.api.forgetConversation(id);
  world.relay.forget(id);
}

describe(`logs (SINETTI_TEST_SEED=${seed} SINETTI_LOG_RUNS=${runs})`, () => {
  const counts = { plays: 0, alarms: 0, lies: 0, direct: 0, noticedByVictim: 0, noticedByOthers: 0 };
  const told = new Map<Lie, number>();

  it.each(Array.from({ length: BATCHES }, (_, batch) => batch))(
    'raise no alarm while the relay tells the truth, and one for each lie: part %i',
    { timeout: 120_000 + runs * 5_000 },
    async (batch) => {
      for (let run = batch; run < runs; run += BATCHES) {
        const { game, id, isDirect } = await play(run);
        for (let step = 0; step < 25; step++) await game.act();
        for (const player of game.players) await game.say(player);
        for (const player of game.players) await game.read(player);
        counts.plays++;
        const falsely = await game.alarmed();
        counts.alarms += falsely.length;
        expect({ run, alarmed: falsely.length }).toEqual({ run, alarmed: 0 });

        const victim = game.pick(game.players);
        const others = game.players.filter(({ device }) => device.userId !== victim.device.userId);
        const lie = lies[run % lies.length] as Lie;
        // The others write meanwhile, each in an epoch that has begun.
        for (const player of [...others, ...others]) await game.say(player);
        for (const player of others) await game.say(player);
        const witness = game.pick(others);
        // One of them comes back by a commit, with which an epoch begins.
        if (lie === 'dropCommit') await game.comeBack(witness);
        if (!(await game.lie(victim, lie))) {
          await end(game, id);
          continue;
        }
        counts.lies++;
        if (isDirect) counts.direct++;
        told.set(lie, (told.get(lie) ?? 0) + 1);
        await game.read(victim);
        await game.say(witness);
        await game.read(victim);
        if (!isHashed(lie)) {
          await expectShown(game, lie, victim, others);
          counts.noticedByVictim++;
          await end(game, id);
          continue;
        }
        // The witness could not know yet of what was put behind all that it had read.
        const isAtEnd = (await game.alarmed()).length === 0 && (lie === 'duplicate' || lie === 'invent');
        if (isAtEnd) {
          await game.say(witness);
          await game.read(victim);
        }
        const alarmed = await game.alarmed();
        expect({ run, lie, noticed: alarmed.includes(victim) }).toEqual({ run, lie, noticed: true });
        counts.noticedByVictim++;
        const { isDoubted } = await victim.device.api.conversation(id);
        expect({ run, lie, asks: isDoubted }).toEqual({ run, lie, asks: isDirect });
        expect(alarmed.filter((player) => player !== victim)).toEqual([]);
        await game.say(victim);
        for (const player of others) await game.read(player);
        const now = await game.alarmed();
        expect({ run, lie, noticed: others.every((player) => now.includes(player)) }).toEqual({
          run,
          lie,
          noticed: true,
        });
        counts.noticedByOthers++;
        await end(game, id);
      }
    },
  );

  it('were played with every kind of lie', () => {
    process.stdout.write(`${JSON.stringify({ ...counts, told: Object.fromEntries(told) })}\n`);
    expect([...told.keys()].sort()).toEqual([...lies].sort());
    expect(counts.alarms).toBe(0);
  });
});
