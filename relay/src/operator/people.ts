import { deleteAccount } from '../accounts/deletion.ts';
import { nameKey } from '../accounts/names.ts';
import { endSessionsOf, restoreAccount, suspendAccount } from '../accounts/suspension.ts';
import * as rows from '../repositories/operator.ts';
import { type Command, type Context, type Given, numberOption, Refusal } from './command.ts';
import { facts, isoTime, size, table, when } from './text.ts';

const jsonOf = ({ id, username, createdAt, lastSeenAt, emailVerifiedAt, suspendedAt }: rows.PersonRow) => ({
  id,
  username,
  created_at: isoTime(createdAt),
  last_seen_at: isoTime(lastSeenAt),
  email_verified_at: isoTime(emailVerifiedAt),
  suspended_at: isoTime(suspendedAt),
});

/** @throws Refusal if there is no such person */
export async function personOf({ db }: Context, { words }: Given): Promise<rows.PersonRow> {
  const name = words[0] ?? '';
  const found = await rows.findPerson(db, nameKey(name));
  if (found === null) throw new Refusal(`There is nobody with the username, email or id ${name}.`);
  return found;
}

const person = ['PERSON'] as const;

export const people: readonly Command[] = [
  {
    name: 'people list',
    words: ['[TEXT]'],
    summary: 'People by username: all, whose username begins with TEXT, or whose email is TEXT',
    options: {
      suspended: { type: 'boolean', help: 'suspended people only' },
      limit: { type: 'string', value: 'NUMBER', help: 'how many at most; 50' },
      after: { type: 'string', value: 'USERNAME', help: 'begin after this username' },
    },
    async run({ db }, given) {
      const { after, suspended } = given.options;
      const found = await rows.peopleOf(db, {
        key: nameKey(given.words[0] ?? ''),
        after: nameKey(typeof after === 'string' ? after : ''),
        suspendedOnly: suspended === true,
        limit: numberOption(given, 'limit', { min: 1, max: 10_000, otherwise: 50 }),
      });
      const lines = found.map((one) => [
        one.username,
        when(one.createdAt),
        when(one.lastSeenAt),
        when(one.suspendedAt),
        one.id,
      ]);
      return {
        json: found.map(jsonOf),
        text: table(['USERNAME', 'SINCE', 'LAST SEEN', 'SUSPENDED', 'ID'], lines),
      };
    },
  },
  {
    name: 'people show',
    words: person,
    summary:
      'One person, by username, email or id: how much there is of them, and nothing that they have written',
    async run(context, given) {
      const found = await personOf(context, given);
      const usage = await rows.usageOf(context.db, found.id, context.clock());
      return {
        json: { ...jsonOf(found), usage },
        text: facts({
          username: found.username,
          id: found.id,
          since: when(found.createdAt),
          'last seen': when(found.lastSeenAt),
          'email verified': when(found.emailVerifiedAt),
          suspended: when(found.suspendedAt),
          devices: String(usage.devices),
          sessions: String(usage.sessions),
          contacts: String(usage.contacts),
          groups: String(usage.groups),
          messages: size(usage.messageBytes),
          'message backup': size(usage.backupBytes),
          files: size(usage.fileBytes),
        }),
      };
    },
  },
  {
    name: 'people suspend',
    words: person,
    summary: 'End the sessions of a person at once, and let them open none until they are restored',
    async run(context, given) {
      const found = await personOf(context, given);
      await suspendAccount(context, found.id);
      return { json: { id: found.id, suspended: true }, text: `${found.username} is suspended.` };
    },
  },
  {
    name: 'people restore',
    words: person,
    summary: 'Let a suspended person log in again; everything is as it was',
    async run(context, given) {
      const found = await personOf(context, given);
      if (!(await restoreAccount(context, found.id))) {
        throw new Refusal(`${found.username} is not suspended.`);
      }
      return { json: { id: found.id, suspended: false }, text: `${found.username} can log in again.` };
    },
  },
  {
    name: 'people end-sessions',
    words: person,
    summary: 'Log a person out everywhere; they can log in again',
    async run(context, given) {
      const found = await personOf(context, given);
      const ended = await endSessionsOf(context, found.id);
      return { json: { id: found.id, ended }, text: `Sessions of ${found.username} ended: ${ended}.` };
    },
  },
  {
    name: 'people delete',
    words: person,
    summary: 'Delete an account with everything that is the person’s, as they could themselves',
    options: { yes: { type: 'boolean', help: 'say so: it can’t be undone' } },
    async run(context, given) {
      const found = await personOf(context, given);
      if (given.options.yes !== true) {
        throw new Refusal(`Deleting ${found.username} can't be undone. Add --yes to do it.`);
      }
      await deleteAccount({ ...context, blobs: null }, found.id);
      return { json: { id: found.id, deleted: true }, text: `The account of ${found.username} is deleted.` };
    },
  },
];
