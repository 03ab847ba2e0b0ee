import { chatsAtom } from '#src/store/chats.ts';
import { Invariants, type Snapshot } from './invariants.ts';
import { type LogOfRelay, logsOfRelay } from './log.ts';
import type { Nonces } from './nonces.ts';
import { isDeleted, type Said, type Seat } from './people.ts';
import type { WorldRelay } from './relay.ts';
import { storedDevice } from './stored.ts';
import type { Thief } from './thieves.ts';
import type { Trace } from './trace.ts';

/** The parts of the world that are looked at, and those in which it is noted. */
interface Watched {
  readonly relay: WorldRelay;
  readonly trace: Trace;
  readonly nonces: Nonces;
  readonly seats: readonly Seat[];
  readonly said: readonly Said[];
  readonly thieves: readonly Thief[];
  readonly events: Map<string, number>;
  readonly wrong: string[];
  count(event: string): void;
}

/** Looks at the whole world, as often as it is asked to, and moves nothing in it. */
export class Watch {
  readonly #world: Watched;
  readonly #invariants = new Invariants();
  /** Faults are told once. */
  readonly #told = new Set<string>();

  constructor(world: Watched) {
    this.#world = world;
  }

  async look(): Promise<void> {
    const logs = await logsOfRelay(this.#world.relay);
    const found = [
      ...this.#invariants.faultsOf(snapshotOf(this.#world, logs)),
      ...(await this.#stolen(logs)),
      ...bugs(this.#world),
    ];
    this.#world.events.set('secrets were compared', this.#invariants.compared);
    this.#world.count('a look at everything');
    this.#world.wrong.push(...found.filter((fault) => !this.#told.has(fault)));
    for (const fault of found) this.#told.add(fault);
  }

  async #stolen(logs: readonly LogOfRelay[]): Promise<string[]> {
    const wrong: string[] = [];
    for (const thief of this.#world.thieves) {
      const read = await thief.read(logs);
      const { deviceId, name } = thief;
      if (deviceId === null || read.length === 0) continue;
      this.#world.count('a copy reads of before');
      wrong.push(...this.#invariants.faultsOfCopy({ name, deviceId }, read));
    }
    return wrong;
  }
}

function snapshotOf(world: Watched, logs: readonly LogOfRelay[]): Snapshot {
  const signedIn = world.seats.filter(({ status }) => status === 'in');
  return {
    devices: signedIn.flatMap(({ person, profile }) => {
      const device = storedDevice(profile.indexedDB, person.id);
      return device === null ? [] : [{ ...device, name: profile.name }];
    }),
    logs: new Map(logs.map((log) => [log.id, log])),
    kept: world.said
      .filter((said) => said.isKept && !said.mayBeLost && !isDeleted(said))
      .map(({ seat, text }) => ({ text, name: seat.profile.name })),
    screens: signedIn.flatMap(({ tabs }) =>
      tabs.flatMap(({ profile, store }) =>
        Object.entries(store.get(chatsAtom)).map(([key, { messages, state }]) => ({
          name: profile.name,
          conversationId: state?.conversationId ?? key,
          messages: messages.map(({ content, messageId, seq }) => ({
            seq,
            messageId,
            text: content.kind === 'text' ? content.text : null,
          })),
        })),
      ),
    ),
  };
}

/** Failures without a code, lines of a log that tell of a bug, and a key that was used twice with one nonce. */
function bugs({ nonces, relay, seats, trace }: Watched): string[] {
  const twice = nonces.repeatedIn(trace.released);
  return [
    ...seats.flatMap(({ profile }) => [
      ...profile.logLines
        .filter((line) => /"internal"|screen-failure/.test(line))
        .map((line) => `${profile.name} logged ${line}`),
      ...profile.raw.map((text) => `${profile.name} threw ${text}`),
    ]),
    ...relay.errors.map((line) => `the relay logged ${line.slice(0, 600)}`),
    ...(twice === 0 ? [] : [`a key was used twice with one nonce, ${twice} times`]),
  ];
}
