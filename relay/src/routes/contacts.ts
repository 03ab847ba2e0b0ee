import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';
import { time } from './encoding.ts';

const outcomes = {
  pending: 'Contact request sent successfully',
  accepted: 'Contact request accepted successfully!',
} as const;

export function contactHandlers({ blocks, contacts, rateLimiter, reports }: Services) {
  return {
    listContacts: ({ session }) => contacts.list(session.userId),

    listContactRequests: async ({ session }) =>
      (await contacts.received(session.userId)).map(({ id, person, createdAt }) => ({
        id,
        from_user: person,
        created_at: time(createdAt),
      })),

    listSentRequests: async ({ session }) =>
      (await contacts.sent(session.userId)).map(({ id, person, createdAt }) => ({
        id,
        to_user: { id: person.id, username: person.username },
        created_at: time(createdAt),
      })),

    requestContact: async ({ session, params }) => {
      const { id, status } = await contacts.request(session.userId, params.id);
      return { id, status, message: outcomes[status] };
    },

    withdrawContact: ({ session, params }) => contacts.withdraw(session.userId, params.id),

    acceptContact: async ({ session, params }) => ({
      contact: await contacts.accept(session.userId, params.id),
    }),

    rejectContact: ({ session, params }) => contacts.reject(session.userId, params.id),
    removeContact: ({ session, params }) => contacts.remove(session.userId, params.id),

    listBlocks: async ({ session }) =>
      (await blocks.list(session.userId)).map(({ createdAt, ...person }) => ({
        ...person,
        created_at: time(createdAt),
      })),
    block: async ({ session, params }) => {
      // The account alone counts: neighbours at its address can't keep anybody from blocking somebody.
      await rateLimiter.take(['block.account', session.userId]);
      await blocks.block(session.userId, params.id);
    },
    unblock: ({ session, params }) => blocks.unblock(session.userId, params.id),

    report: async ({ session, body }) => {
      await rateLimiter.take(['report.account', session.userId]);
      const { user_id: reportedId, ...content } = body;
      return { id: await reports.report(session.userId, { reportedId, ...content }) };
    },
    listReports: async ({ session }) =>
      (await reports.list(session.userId)).map(({ id, reportedId, reason, text, messages, createdAt }) => ({
        id,
        user_id: reportedId,
        reason,
        text,
        messages: [...messages],
        created_at: time(createdAt),
      })),
  } satisfies Partial<Handlers>;
}
