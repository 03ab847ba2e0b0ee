import { setTimeout as delay } from 'node:timers/promises';
import { Chat } from './chat.ts';
import { seeded } from './random.ts';

export interface Victim {
  /** The relay's address, the same after every crash. */
  readonly url: string;
  /** Ends it in the middle of whatever it does, and brings it back. */
  crash(): Promise<void>;
}

export interface StoryOptions {
  readonly seed: number;
  readonly crashes: number;
  readonly chats: number;
}

/** The result of a story. */
export interface Outcome {
  readonly acknowledged: number;
  /** Returns of how many entries the relay has deleted the content, as all had received it. */
  readonly emptied: () => Promise<number>;
  /** Returns how many bytes of content the relay keeps. */
  readonly keptBytes: () => Promise<number>;
  readonly problems: readonly string[];
  /** The same of the log as it is now: the job goes on after the last crash. */
  readonly problemsNow: () => Promise<readonly string[]>;
}

/** Milliseconds of load before each crash. */
const shortestLife = 50;
const longestLife = 600;

/**
 * People write, the relay is killed at random moments, and each time the log is held against what it had acknowledged and what
 * people had received.
 */
export async function crashUnderLoad(victim: Victim, options: StoryOptions): Promise<Outcome> {
  const random = seeded(options.seed);
  const chats: Chat[] = [];
  for (let count = 0; count < options.chats; count += 1) chats.push(await Chat.start(victim, random));
  const acknowledged = () => chats.reduce((sum, chat) => sum + chat.acknowledgedCount, 0);
  const problems: string[] = [];

  for (let crash = 1; crash <= options.crashes; crash += 1) {
    await untilMoreThan(acknowledged(), acknowledged);
    await delay(shortestLife + random() * (longestLife - shortestLife));
    await victim.crash();
    for (const chat of chats) {
      problems.push(...(await chat.problems()).map((problem) => `crash ${crash}: ${problem}`));
    }
  }
  for (const chat of chats) await chat.finishWriting();
  // Once more, for the job to delete what has been received by now.
  await victim.crash();
  for (const chat of chats) {
    problems.push(...(await chat.problems()), ...(await chat.clientProblems()));
    await chat.close();
  }
  const problemsNow = async () => (await Promise.all(chats.map((chat) => chat.problems()))).flat();
  const sizes = () => Promise.all(chats.map((chat) => chat.sizes()));
  const emptied = async () => (await sizes()).reduce((sum, size) => sum + size.emptied, 0);
  const keptBytes = async () => (await sizes()).reduce((sum, size) => sum + size.bytes, 0);
  return { acknowledged: acknowledged(), emptied, keptBytes, problems, problemsNow };
}

/** Until the clients have come back and the relay acknowledges again. */
async function untilMoreThan(count: number, current: () => number): Promise<void> {
  while (current() <= count) await delay(10);
}
