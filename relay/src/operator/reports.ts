import * as rows from '../repositories/reports.ts';
import { type Command, type Context, type Given, numberOption, Refusal } from './command.ts';
import { facts, isoTime, printable, table, when } from './text.ts';

const jsonOf = (report: rows.ReportRow) => ({
  id: report.id,
  reason: report.reason,
  reported: { id: report.reportedId, username: report.reported },
  reporter: { id: report.reporterId, username: report.reporter },
  created_at: isoTime(report.createdAt),
  closed_at: isoTime(report.closedAt),
});

/** @throws Refusal if there is no such report */
async function reportOf({ db }: Context, { words }: Given): Promise<rows.ReportRow> {
  const id = words[0] ?? '';
  const [found] = await rows.reportsOf(db, { id, limit: 1 });
  if (found === undefined) throw new Refusal(`There is no report ${id}.`);
  return found;
}

/** Strangers' lines, each behind a mark that no command of ours prints. */
const quoted = (text: string) =>
  text
    .split('\n')
    .map((line) => `  | ${printable(line)}`)
    .join('\n');

export const reports: readonly Command[] = [
  {
    name: 'reports list',
    summary: 'Reports about people that wait for you, newest first',
    options: {
      all: { type: 'boolean', help: 'those that are closed, too' },
      limit: { type: 'string', value: 'NUMBER', help: 'how many at most; 50' },
    },
    async run({ db }, given) {
      const found = await rows.reportsOf(db, {
        ...(given.options.all === true ? {} : { isOpen: true }),
        limit: numberOption(given, 'limit', { min: 1, max: 10_000, otherwise: 50 }),
      });
      const lines = found.map((one) => [
        when(one.createdAt),
        one.reason,
        one.reported,
        one.reporter,
        one.closedAt === null ? 'open' : 'closed',
        one.id,
      ]);
      return {
        json: found.map(jsonOf),
        text: table(['SINCE', 'REASON', 'ABOUT', 'BY', 'STATE', 'ID'], lines),
      };
    },
  },
  {
    name: 'reports show',
    words: ['ID'],
    summary:
      'One report, with the words and the messages that the reporter has chosen to send: nothing proves these',
    async run(context, given) {
      const found = await reportOf(context, given);
      const head = facts({
        about: `${found.reported} (${found.reportedId})`,
        by: `${found.reporter} (${found.reporterId})`,
        since: when(found.createdAt),
        closed: when(found.closedAt),
        reason: found.reason,
      });
      const words = found.text === '' ? [] : ['', 'In their words:', quoted(found.text)];
      const messages = found.messages.flatMap(({ sent_at: sentAt, text }) => [
        '',
        `As their browser shows it, of ${when(Date.parse(sentAt))}:`,
        quoted(text),
      ]);
      return {
        json: { ...jsonOf(found), text: found.text, messages: found.messages },
        text: [head, ...words, ...messages].join('\n'),
      };
    },
  },
  {
    name: 'reports close',
    words: ['ID'],
    summary: 'Take a report off the list; it is deleted 90 days later',
    async run(context, given) {
      const { id } = await reportOf(context, given);
      await rows.closeReport(context.db, id, context.clock());
      return { json: { id, closed: true }, text: 'The report is closed.' };
    },
  },
];
