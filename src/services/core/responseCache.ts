import type * as z from 'zod/mini';
import type { CryptoApi } from '../../crypto/client.ts';
import type { Api } from '../../net/api.ts';
import { routes } from '../../net/contract.ts';
import type { Background } from './failures.ts';

export interface ResponseCacheOptions {
  readonly api: Api;
  readonly crypto: Pick<CryptoApi, 'readLocal' | 'writeLocal'>;
  /** Answers that come after the session are nobody's to keep: the storage may be another person's by then. */
  readonly isActive: () => boolean;
  readonly background: Background;
}

interface Kept<T> {
  readonly ask: () => Promise<T>;
  readonly recall: () => Promise<T | null>;
}

type KeptLists =
  | 'listContacts'
  | 'listContactRequests'
  | 'listSentRequests'
  | 'listGroups'
  | 'listNotifications';

export interface ResponseCache {
  readonly api: Api;
  /** Each without asking the relay: what it has answered last, or null where nothing was kept. Never rejects. */
  readonly recall: { readonly [Name in KeptLists]: () => Promise<Awaited<ReturnType<Api[Name]>> | null> };
}

/**
 * The lists that the dashboard begins with, with the relay's last answers kept sealed in this browser. They are shown
 * until there is a newer answer: offline one sees names instead of nothing. A failure stays a failure, so that who
 * shows them can say that they are old.
 */
export function createResponseCache({
  api,
  background,
  crypto,
  isActive,
}: ResponseCacheOptions): ResponseCache {
  function kept<T>(name: string, schema: z.ZodMiniType<T>, ask: () => Promise<T>): Kept<T> {
    const entry = `answer:${name}`;
    let last: string | null = null;

    async function keep(answer: T): Promise<void> {
      const json = JSON.stringify(answer);
      if (json === last || !isActive()) return;
      last = json;
      await crypto.writeLocal(entry, json);
    }

    async function recall(): Promise<T | null> {
      try {
        const json = await crypto.readLocal(entry);
        if (json === null) return null;
        const answer = schema.parse(JSON.parse(json));
        last ??= json;
        return answer;
      } catch {
        // It can't be read, or another version wrote it.
        return null;
      }
    }

    return {
      recall,
      ask: async () => {
        const answer = await ask();
        background(() => keep(answer));
        return answer;
      },
    };
  }

  const contacts = kept('contacts', routes.listContacts.response, api.listContacts);
  const requests = kept('requests', routes.listContactRequests.response, api.listContactRequests);
  const sent = kept('sent-requests', routes.listSentRequests.response, api.listSentRequests);
  const groups = kept('groups', routes.listGroups.response, api.listGroups);
  const notifications = kept('notifications', routes.listNotifications.response, api.listNotifications);

  return {
    api: {
      ...api,
      listContacts: contacts.ask,
      listContactRequests: requests.ask,
      listSentRequests: sent.ask,
      listGroups: groups.ask,
      listNotifications: notifications.ask,
    },
    recall: {
      listContacts: contacts.recall,
      listContactRequests: requests.recall,
      listSentRequests: sent.recall,
      listGroups: groups.recall,
      listNotifications: notifications.recall,
    },
  };
}
