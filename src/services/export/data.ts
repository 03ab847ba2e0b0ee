import type { ExportLayout } from './layout.ts';

/** The shape that programs which read the file can rely on. */
const format = { format: 'user-data', version: 1 } as const;

/** The file for programs: one JSON object, which ends with the messages of all conversations. */
export function createData(): ExportLayout {
  let isFirst = true;
  return {
    head: async (facts) => openObject({ ...format, ...facts }),
    conversationStart: () => '',
    message(record) {
      const separator = isFirst ? '' : ',';
      isFirst = false;
      return `${separator}\n    ${JSON.stringify(record)}`;
    },
    conversationEnd: () => '',
    tail: () => '\n  ]\n}\n',
  };
}

/** Left open in the list of messages. Lists are written item by item, as some have thousands. */
function* openObject(fields: object): Iterable<string> {
  yield '{\n';
  for (const [key, value] of Object.entries(fields) as [string, unknown][]) {
    if (!Array.isArray(value)) {
      yield `  ${JSON.stringify(key)}: ${JSON.stringify(value)},\n`;
      continue;
    }
    yield `  ${JSON.stringify(key)}: [`;
    for (const [at, item] of value.entries()) yield `${at === 0 ? '' : ','}\n    ${JSON.stringify(item)}`;
    yield '\n  ],\n';
  }
  yield '  "messages": [';
}
