// npm run bench:growth: how large the database of a busy relay is after a year, month by month.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const usage = `npm run bench:growth -- [options]
  --people <n>     30 unless given, each with three direct conversations
  --messages <n>   a day in each conversation, 40 unless given
  --days <n>       365 unless given
`;

const { values } = parseArgs({
  options: {
    people: { type: 'string', default: '30' },
    messages: { type: 'string', default: '40' },
    days: { type: 'string', default: '365' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  process.stdout.write(usage);
} else {
  const { people, messages, days } = values;
  const settings = { GROWTH_PEOPLE: people, GROWTH_MESSAGES: messages, GROWTH_DAYS: days };
  const { status } = spawnSync(
    'vitest',
    ['run', '--project', 'relay', '--reporter', 'verbose', 'relay/test/growth/growth.test.ts'],
    { stdio: 'inherit', env: { ...process.env, ...settings } },
  );
  process.exitCode = status ?? 1;
}
