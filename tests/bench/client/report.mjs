const ms = (value) => (value === undefined ? '' : `${Math.round(value)} ms`);

/**
 * @param {Record<1 | 4, Record<string, number>>} results by slow-down, in milliseconds
 * @returns a table, in Markdown
 */
export function report(results, amounts, machine) {
  const rows = [
    ['the landing page is painted, with nothing cached', 'landing'],
    [
      `dashboard ready after a reload, ${amounts.contacts} contacts, ${count(amounts.cached)} messages`,
      'ready',
      300,
    ],
    ['the conversation that was open shows its newest message after that reload', 'reopened'],
    [`opening a conversation of ${count(amounts.long)}`, 'opening', 100],
    ['from a click to another screen, the slowest', 'otherScreen'],
    [`longest task of the page while ${count(amounts.missed)} messages are decrypted`, 'longTask', 50],
    ['longest wait of a key until it was drawn meanwhile', 'key'],
    ['from Send to shown in the other browser', 'sendToShown', 60],
    ['from a reaction chosen to shown to who gave it', 'reactToOwn', 60],
    ['from a reaction chosen to shown in the other browser', 'reactToShown', 60],
    ['from a draft typed to shown in the person’s other browser', 'draftToShown', 1_000],
    ['from a chat opened to read in the person’s other browser', 'readToRead', 1_000],
  ];
  // A part that was not asked for has no row.
  const lines = rows
    .filter(([, key]) => results[1][key] !== undefined)
    .map(([name, key, limit]) => {
      const measured = results[1][key];
      const aim = limit === undefined ? '' : `${limit} ms: ${measured <= limit ? 'met' : '**missed**'}`;
      return `| ${name} | ${ms(measured)} | ${ms(results[4][key])} | ${aim} |`;
    });
  if (results[1].picturesRatio !== undefined) {
    const ratios = [1, 4].map((rate) => results[rate].picturesRatio.toFixed(2));
    lines.push(
      `| opening one of ${count(amounts.long)} with a picture in ten, beside one of as many without | × ${ratios.join(' | × ')} | |`,
    );
  }
  return [
    `${machine.processor}, ${machine.cores} cores, load ${machine.load.toFixed(1)}; medians of ${amounts.rounds}.`,
    'A task of under 50 ms, and a key drawn within 16 ms, count as 0.',
    '',
    '| | as it is | four times slower | aim |',
    '|---|---|---|---|',
    ...lines,
    '',
  ].join('\n');
}

const count = (value) => value.toLocaleString('en');
