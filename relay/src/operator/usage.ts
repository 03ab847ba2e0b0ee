import { largestOf, usageOfAll } from '../repositories/operator.ts';
import { type Command, numberOption } from './command.ts';
import { facts, size, table } from './text.ts';

export const usage: Command = {
  name: 'usage',
  summary: 'How many people, conversations and bytes there are, and who has most stored',
  options: { top: { type: 'string', value: 'NUMBER', help: 'how many people to name; 5' } },
  async run({ database, db, clock }, given) {
    const top = numberOption(given, 'top', { min: 0, max: 1000, otherwise: 5 });
    const all = await usageOfAll(db, clock());
    const largest = await largestOf(db, top);
    const databaseBytes = await database.size();
    const counts = facts({
      people: `${all.people}, of them suspended: ${all.suspended}`,
      'emails verified': String(all.verifiedEmails),
      'seen in 7 days': String(all.seenIn7Days),
      'seen in 30 days': String(all.seenIn30Days),
      devices: String(all.devices),
      sessions: String(all.sessions),
      conversations: `${all.conversations}, of them groups: ${all.groups}`,
      'entries numbered': String(all.entries),
      messages: size(all.messageBytes),
      'message backups': size(all.backupBytes),
      files: `${all.files}, ${size(all.fileBytes)}`,
      database: size(databaseBytes),
    });
    const named = table(
      ['USERNAME', 'STORED', 'ID'],
      largest.map(({ id, username, bytes }) => [username, size(bytes), id]),
    );
    return { json: { ...all, databaseBytes, largest }, text: top === 0 ? counts : `${counts}\n\n${named}` };
  },
};
