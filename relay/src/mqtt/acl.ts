import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import { parseTopic } from './topics.ts';

/**
 * Decides on a subscription: people may subscribe to their own messages, those of their groups, and the
 * status of their contacts. A topic that doesn't exist and one of others answer alike, so that ids can't be
 * probed.
 */
export async function maySubscribe(
  { contacts, groups }: Pick<RealtimeServices, 'contacts' | 'groups'>,
  userId: string,
  topicName: string,
): Promise<boolean> {
  const topic = parseTopic(topicName);
  switch (topic?.kind) {
    case 'messages':
      return topic.userId === userId;
    case 'status':
      return contacts.areContacts(userId, topic.userId);
    case 'group':
      return groups.isMember(topic.groupId, userId);
    case 'ping':
    case undefined:
      break;
  }
  return false;
}
