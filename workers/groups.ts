/** Groups: who is added, who leaves, and what the group is called (PROTOCOL section 4). */
import type { CryptoApi } from './api.ts';
import { CryptoApiError } from './errors.ts';

type GroupsApi = Pick<
  CryptoApi,
  | 'addMembers'
  | 'nextCommit'
  | 'discardCommit'
  | 'leaveStatement'
  | 'setDeparted'
  | 'setGroupName'
  | 'forgetConversation'
>;

export function createGroups(): GroupsApi {
  const refuse = async (): Promise<never> => {
    throw new CryptoApiError('unsupported', 'only direct conversations');
  };
  return {
    addMembers: refuse,
    nextCommit: refuse,
    discardCommit: refuse,
    leaveStatement: refuse,
    setDeparted: refuse,
    setGroupName: refuse,
    forgetConversation: refuse,
  };
}
