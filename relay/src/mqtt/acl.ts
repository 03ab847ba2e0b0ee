import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import { parseTopic } from './topics.ts';

/**
 * Decides on a subscription: people may subscribe to their own messages, to who is writing to them, to the messages of
 * their groups, and to the status of their contacts. A topic that doesn't exist and one of others answer alike, so that ids can't be
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
    case 'typing':
      return topic.userId === userId;
    case 'status':
      return contacts.areContacts(userId, topic.userId);
    case 'group':
      return groups.isMember(topic.groupId, userId);
    case 'group-typing':
    case 'ping':
    case undefined:
      break;
  }
  return false;
}
