import { randomBytes, randomUUID } from 'node:crypto';
import { SignUpMode } from '../../contract/index.ts';
import { codeHash } from '../accounts/signUpModes.ts';
import type { Config } from '../config.ts';
import { appOriginOf } from '../http/origins.ts';
import * as rows from '../repositories/signUp.ts';
import { type Command, numberOption, Refusal, UsageError } from './command.ts';
import { facts, isoTime, table, when } from './text.ts';

const day = 24 * 60 * 60 * 1000;
const noteMaxLength = 100;

const meanings: Readonly<Record<SignUpMode, string>> = {
  open: 'Anybody can sign up.',
  invitation: 'Signing up takes an invitation: sinetti-relay invitations create makes one.',
  closed: 'Nobody can sign up. Invitations wait.',
};

/** The page that an invitation leads to. The code is behind the #, which browsers send to no server. */
function linkOf({ keysOrigin, port }: Config, code: string): string {
  const origin = keysOrigin === null ? null : appOriginOf(keysOrigin);
  return `${origin ?? `http://localhost:${port}`}/signup#invitation=${code}`;
}

function stateOf(row: rows.InvitationRow, now: number): 'good' | 'used' | 'expired' | 'revoked' {
  if (row.revokedAt !== null) return 'revoked';
  if (row.used >= row.uses) return 'used';
  return row.expiresAt <= now ? 'expired' : 'good';
}

export const signUp: readonly Command[] = [
  {
    name: 'sign-up',
    words: ['[open|invitation|closed]'],
    summary:
      'Who can sign up from now on: anybody, whoever has an invitation, or nobody; without a word, says who can',
    async run({ db }, { words }) {
      const [word] = words;
      if (word !== undefined) {
        const mode = SignUpMode.safeParse(word);
        if (!mode.success) throw new UsageError('sign-up takes open, invitation or closed.');
        await rows.setSignUpMode(db, mode.data);
      }
      const mode = await rows.signUpMode(db);
      return { json: { sign_up: mode }, text: meanings[mode] };
    },
  },
  {
    name: 'invitations create',
    summary: 'Make an invitation, and say its link, which is said once only',
    options: {
      uses: { type: 'string', value: 'NUMBER', help: 'how many accounts it is good for; 1' },
      days: { type: 'string', value: 'NUMBER', help: 'for how many days; 7' },
      note: { type: 'string', value: 'TEXT', help: 'words of yours, to know it by' },
    },
    async run({ config, db, clock }, given) {
      const now = clock();
      const { note = '' } = given.options;
      if (typeof note !== 'string' || note.length > noteMaxLength) {
        throw new UsageError(`--note must be at most ${noteMaxLength} characters.`);
      }
      const code = randomBytes(16).toString('base64url');
      const invitation = {
        id: randomUUID(),
        codeHash: codeHash(code),
        uses: numberOption(given, 'uses', { min: 1, max: 100_000, otherwise: 1 }),
        note,
        createdAt: now,
        expiresAt: now + day * numberOption(given, 'days', { min: 1, max: 3650, otherwise: 7 }),
      };
      await rows.insertInvitation(db, invitation);
      const { id, uses, expiresAt } = invitation;
      const link = linkOf(config, code);
      return {
        json: { id, link, uses, expires_at: isoTime(expiresAt) },
        text: facts({ link, id, uses: String(uses), expires: when(expiresAt) }),
      };
    },
  },
  {
    name: 'invitations list',
    summary: 'Invitations, newest first; their links are stored nowhere',
    async run({ db, clock }) {
      const found = (await rows.invitationsOf(db)).map((row) => ({ ...row, state: stateOf(row, clock()) }));
      return {
        json: found.map(({ id, state, uses, used, note, createdAt, expiresAt }) => ({
          id,
          state,
          uses,
          used,
          note,
          created_at: isoTime(createdAt),
          expires_at: isoTime(expiresAt),
        })),
        text: table(
          ['STATE', 'USED', 'SINCE', 'EXPIRES', 'ID', 'NOTE'],
          found.map(({ id, state, uses, used, note, createdAt, expiresAt }) => [
            state,
            `${used} of ${uses}`,
            when(createdAt),
            when(expiresAt),
            id,
            note,
          ]),
        ),
      };
    },
  },
  {
    name: 'invitations revoke',
    words: ['ID'],
    summary: 'Let an invitation be good for nobody any more; accounts that came by it stay',
    async run({ db, clock }, { words }) {
      const id = words[0] ?? '';
      if (!(await rows.revokeInvitation(db, id, clock()))) throw new Refusal(`There is no invitation ${id}.`);
      return { json: { id, revoked: true }, text: 'The invitation is good for nobody any more.' };
    },
  },
];
