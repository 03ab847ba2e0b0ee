import type { ConversationState, CryptoApi, MessageVersion, MessageView } from '#src/crypto/client.ts';
import type { Api } from '#src/net/api.ts';
import { createDataExport } from '#src/services/export/dataExport.ts';
import type { ReadFile } from '#src/services/export/files.ts';
import type { ExportFormat } from '#src/store/account.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { type CurrentUser, currentUserAtom } from '#src/store/session.ts';
import { MemoryFile } from '#tests/support/memoryFile.ts';
import { conversationId, me, peer, state, testDeps } from './deps.ts';

export const anna: CurrentUser = {
  id: me,
  username: 'anna',
  email: 'anna@example.org',
  full_name: 'anna',
  created_at: '2026-03-01T12:00:00.000Z',
};
export const bert = { id: peer, username: 'bert', email: 'bert@example.org' };

export const account = {
  profile: anna,
  consented_at: anna.created_at,
  discoverability: { found_by: 'both', shows_email: false } as const,
  asked_first: false,
  password_params: { salt: 'c2FsdA', opsLimit: 3, memLimit: 134_217_728 },
  sessions: [],
};
export const device = {
  id: peer,
  name: 'Firefox on Linux',
  certificate: 'Y2VydA',
  created_at: anna.created_at,
  last_seen_at: anna.created_at,
  current: true,
};

/** Everything that the relay holds of Anna. */
export const ownReport = {
  id: '00000000-0000-4000-8000-0000000000aa',
  user_id: peer,
  reason: 'spam' as const,
  text: 'Again.',
  messages: [],
  created_at: '2026-03-01T12:00:00.000Z',
};

export const answering: Partial<Api> = {
  listContacts: async () => [bert],
  listContactRequests: async () => [],
  listSentRequests: async () => [],
  listNotifications: async () => [],
  listDevices: async () => [device],
  listReports: async () => [ownReport],
  accountData: async () => account,
};

interface World {
  /** By conversation, ascending by position. */
  readonly logs?: ReadonlyMap<string, readonly MessageView[]>;
  readonly states?: readonly ConversationState[];
  readonly outbox?: readonly MessageView[];
  /** The versions of any message that was edited. */
  readonly versions?: readonly MessageVersion[];
  /** Messages that she has starred. */
  readonly starred?: readonly MessageView[];
  readonly api?: Partial<Api>;
  readonly read?: ReadFile;
  /** Before each page. */
  readonly onPage?: (page: { after: number; limit: number }) => void | Promise<void>;
}

/** Anna's export of what her worker has, into a file in memory. */
export function exporting({
  api = answering,
  logs = new Map(),
  onPage,
  outbox = [],
  read = () => {
    throw new Error('no files');
  },
  starred = [],
  states,
  versions = [],
}: World) {
  const crypto: Partial<CryptoApi> = {
    conversations: async () => [...(states ?? [...logs.keys()].map((id) => state({ conversationId: id })))],
    messageCount: async (id) => logs.get(id)?.length ?? 0,
    messages: async (id, { after = 0, limit }) => {
      await onPage?.({ after, limit });
      return (logs.get(id) ?? []).filter(({ seq }) => (seq ?? 0) > after).slice(0, limit);
    },
    messageVersions: async () => [...versions],
    starredMessages: async () => [...starred],
    outbox: async () => [...outbox],
  };
  const deps = testDeps({ api, crypto });
  deps.store.set(currentUserAtom, anna);
  deps.store.set(contactsAtom, { items: [bert], loading: false, loaded: true, error: null });
  const file = new MemoryFile();
  const dataExport = createDataExport(deps, async () => read);
  return {
    deps,
    file,
    dataExport,
    run: (format: ExportFormat = 'json', withFiles = false) => dataExport.run(format, file, withFiles),
  };
}

/** One conversation, with Bert. */
export function logOf(messages: readonly MessageView[]): ReadonlyMap<string, readonly MessageView[]> {
  return new Map([[conversationId, messages]]);
}
