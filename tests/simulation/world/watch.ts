import { chatsAtom } from '#src/store/chats.ts';
import { worldNow } from '../seams/time.ts';
import { Invariants, type Snapshot } from './invariants.ts';
import { type LogOfRelay, logsOfRelay } from './log.ts';
import type { Nonces } from './nonces.ts';
import { isDeleted, type Said, type Seat, textAt } from './people.ts';
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
  readonly timed: Map<string, number>;
  readonly thieves: readonly Thief[];
  readonly events: Map<string, number>;
  readonly wrong: string[];
  count(event: string): void;
  timerOf(said: Said): number;
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
    noteTexts(this.#world);
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

/** Notes what browsers have taken: which texts are to disappear, and which files they have begun to carry. */
function noteTexts({ seats, said, timed }: Watched): void {
  for (const seat of seats) {
    const { drafts, texts } = storedDevice(seat.profile.indexedDB, seat.person.id) ?? {};
    const lines = new Set([...(drafts?.values() ?? [])].flatMap((draft) => draft.split('\n')));
    for (const [text, seconds] of texts ?? []) if (seconds > 0) timed.set(text, seconds);
    for (const one of said.filter(({ file }) => file !== null)) {
      if (one.seat !== seat) continue;
      if (texts?.has(textAt(one.conversationId, one.text)) === true) one.isKept = true;
      // The person has it again, and does with it what they like.
      if (lines.has(one.text)) one.isGivenBack = one.mayBeLost = true;
    }
  }
}

/** Returns whether its author's browser has to have it still: before its time is over, by a clock that nobody has set. */
function isToStay(world: Watched, said: Said): boolean {
  const seconds = world.timerOf(said);
  const isEarly = !said.seat.profile.isClockTurned && worldNow() < said.begunAt + 1_000 * seconds;
  return said.isKept && !said.mayBeLost && !isDeleted(said) && (seconds === 0 || isEarly);
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
      .filter((said) => isToStay(world, said))
      .map(({ conversationId, seat, text }) => ({
        text: textAt(conversationId, text),
        name: seat.profile.name,
      })),
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
