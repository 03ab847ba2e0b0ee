import { randomUUID } from 'node:crypto';
import { directConversationId, groupConversationId } from '../../contract/index.ts';
import type { PersonOnDevice } from '../helpers.ts';
import { commitBody, messageBody, receiptBody } from '../http/conversation.ts';
import { getTree, testTree } from '../trees.ts';

/** The calls of a signed-in person that have quotas of their own. */
export const actions = {
  search: (person: PersonOnDevice) => person.call('GET', '/search?q=somebody'),
  rename: (person: PersonOnDevice) =>
    person.call('PUT', '/users/me', { username: person.username, email: person.email }),
  'email-code': (person: PersonOnDevice) => person.call('POST', '/users/me/email/code'),
  'email-confirm': (person: PersonOnDevice) =>
    person.call('POST', '/users/me/email/confirm', { code: '00000000' }),
  'contact-request': (person: PersonOnDevice) => person.call('POST', `/contacts/request/${randomUUID()}`),
  claim: (person: PersonOnDevice) => person.call('POST', `/users/${person.id}/key-packages/claim`),
  commit: (person: PersonOnDevice) =>
    person.call(
      'POST',
      `/conversations/${directConversationId(person.id, randomUUID())}/commits`,
      commitBody(0),
    ),
  send: (person: PersonOnDevice) => person.call('POST', `/messages/user/${randomUUID()}`, messageBody(1)),
  receipt: (person: PersonOnDevice) => {
    const conversationId = directConversationId(person.id, randomUUID());
    return person.call(
      'PUT',
      `/conversations/${conversationId}/receipt`,
      receiptBody(person, conversationId, 1),
    );
  },
  tree: (person: PersonOnDevice) => getTree(person, groupConversationId(randomUUID()), testTree(1).treeHash),
} as const;
