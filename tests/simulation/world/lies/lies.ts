import { toBase64Url } from '#workers/codec/base64url.ts';
import { digestOf } from '#workers/conversation/logChain.ts';
import type { Random } from '../../seams/random.ts';
import { type Entry, LogLiar } from './logLiar.ts';

/**
 * The notices that a lie has to raise: one of each list that isn't empty. That a message can't be read is none of a lie which others
 * can compare, since garbage from anybody shows like that.
 */
export interface Notices {
  /** Notices on the device that is lied to. */
  readonly byVictim: readonly string[];
  /** Notices on devices of others. */
  readonly byOthers: readonly string[];
}

/** The running hash in what both sides send tells each of them. */
const diverged: Notices = { byVictim: ['diverged'], byOthers: ['diverged'] };
/** Nobody could know of it. */
const none: Notices = { byVictim: [], byOthers: [] };
const shown = (...byVictim: string[]): Notices => ({ byVictim, byOthers: [] });

/** The lies that a relay may tell one device, with the notices that the messages which follow have to raise. */
export const logLies = {
  /** An entry is left out, and those after it move up. */
  drop: { notices: { ...diverged, byVictim: ['missing'] }, kind: 'application', shift: -1 },
  /** The second of the two says that the first should have come before. */
  reorder: { notices: { ...diverged, byVictim: ['missing', 'diverged'] }, kind: 'application', shift: 0 },
  /** Other bytes under the same id. */
  replace: { notices: diverged, kind: 'application', shift: 0 },
  /** An entry once more, under another id. */
  replay: { notices: diverged, kind: 'application', shift: 1 },
  /** An entry that nobody has sent. */
  invent: { notices: diverged, kind: 'application', shift: 1 },
  /** The same bytes under another id, which nobody else is shown. */
  fork: { notices: diverged, kind: 'application', shift: 0 },
  /** Somebody else's name above the same bytes. */
  rename: { notices: diverged, kind: 'application', shift: 0 },
  /** The device stays in the epoch that the commit ended: it reads nothing more, and sends nothing that others could compare. */
  dropCommit: { notices: shown('damaged'), kind: 'commit', shift: -1 },
  /** Everything from a commit on is kept back: what is late and what never comes look the same. */
  withhold: { notices: none, kind: 'commit', shift: 0 },
  /** Likewise, until the log goes on without the commit: messages of an epoch that the device doesn't know follow. */
  withholdThenDrop: { notices: shown('damaged'), kind: 'commit', shift: 0 },
  /** The time at which the relay says it has stored an entry. */
  retime: { notices: shown("the sender's clock beside"), kind: 'application', shift: 0 },
  /** An entry that the relay says it has deleted for its age, which it makes up too. */
  expire: { notices: shown('withheld'), kind: 'application', shift: 0 },
} as const satisfies Record<string, { notices: Notices; kind: Entry['kind']; shift: number }>;

export type LogLie = keyof typeof logLies;

/** Lies about people and their accounts, told to one browser. */
export const accountLies = {
  vaultRollback: { notices: shown('older vault') },
  stateRollback: { notices: shown('the mark is there again') },
  /** Every single-use KeyPackage is gone: what is claimed is the last resort. */
  lastResort: { notices: none },
  /** The devices of a contact, under an account key of the relay's own, at a browser that is new. */
  inventedKey: { notices: shown('changed key') },
  exchangedNames: { notices: shown("the server's name beside") },
  /** Everybody has read everything, it says. Nobody is told of that, and nobody may believe it. */
  forgedReceipts: { notices: none },
} as const satisfies Record<string, { notices: Notices }>;

export type Lie = LogLie | keyof typeof accountLies;
export const lies = [...Object.keys(logLies), ...Object.keys(accountLies)] as Lie[];
export const noticesOf = (lie: Lie): Notices => ({ ...logLies, ...accountLies })[lie].notices;

/** @param entry that the lie is about */
export function logLiar(
  lie: LogLie,
  entry: Entry,
  userId: string,
  others: readonly string[],
  random: Random,
): LogLiar {
  const { conversationId, seq } = entry;
  const other = others.find((id) => id !== entry.sender_id) ?? userId;
  const garbage = random.bytes(300).toString('base64url');
  const [id, anotherId] = [random.uuid(), random.uuid()];
  const edited = (one: Entry): Entry[] => {
    switch (lie) {
      case 'drop':
      case 'dropCommit':
        return [];
      case 'replace':
        return [{ ...one, content: garbage }];
      case 'replay':
        return [one, { ...one, id }];
      case 'invent':
        return [one, { ...one, id: anotherId, content: garbage }];
      case 'fork':
        return [{ ...one, id }];
      case 'rename':
        return [{ ...one, sender_id: other }];
      case 'retime':
        return [{ ...one, timestamp: new Date(Date.parse(one.timestamp) - 86_400_000).toISOString() }];
      case 'expire':
        return [
          {
            ...one,
            content: '',
            timestamp: new Date(Date.parse(one.timestamp) - 100 * 86_400_000).toISOString(),
            digest: toBase64Url(digestOf(conversationId, one)),
            expired: true,
          },
        ];
      case 'reorder':
      case 'withhold':
      case 'withholdThenDrop':
        return [one];
      default:
        throw new Error(`no such lie: ${String(lie satisfies never)}`);
    }
  };
  const edit = (log: readonly Entry[]): readonly Entry[] => {
    const at = log.findIndex((one) => one.seq === seq);
    const one = log[at];
    if (one === undefined) return log;
    if (lie === 'withhold' || lie === 'withholdThenDrop') return log.slice(0, at);
    if (lie !== 'reorder') return [...log.slice(0, at), ...edited(one), ...log.slice(at + 1)];
    const next = log[at + 1];
    return next === undefined ? log : [...log.slice(0, at), next, one, ...log.slice(at + 2)];
  };
  return new LogLiar(conversationId, userId, seq, logLies[lie].shift, edit);
}
