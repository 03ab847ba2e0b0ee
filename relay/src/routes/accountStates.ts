import type { Handlers } from '../http/contractRoutes.ts';
import type { Services } from '../services.ts';
import { bytes, text } from './encoding.ts';

export function accountStateHandlers({ accountStates }: Pick<Services, 'accountStates'>) {
  return {
    getAccountState: async ({ session }) => {
      const state = await accountStates.find(session.userId);
      return state === null ? { version: 0, sealed: null } : { ...state, sealed: text(state.sealed) };
    },

    putAccountState: async ({ session, body }) => ({
      version: await accountStates.replace(session, {
        version: body.version,
        sealed: bytes(body.sealed),
      }),
    }),
  } satisfies Partial<Handlers>;
}
