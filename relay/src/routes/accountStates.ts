import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';
import { bytes, text } from './encoding.ts';

export function accountStateHandlers({ accountStates }: Pick<Services, 'accountStates'>) {
  return {
    getAccountState: async ({ session }) => {
      const state = await accountStates.find(session.userId);
      if (state === null) return { version: 0, sealed: null, segments: [] };
      return { version: state.version, sealed: text(state.sealed), segments: state.segments.map(text) };
    },

    putAccountState: async ({ session, body }) => ({
      version: await accountStates.replace(session, {
        version: body.version,
        sealed: bytes(body.sealed),
        segments: (body.segments ?? []).map(bytes),
      }),
    }),
  } satisfies Partial<Handlers>;
}
