import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import { parseTopic } from './topics.ts';

/**
 * Who may subscribe to what: one's own messages, those of one's groups, and the status of one's contacts. A topic that
 * doesn't exist and one that isn't yours answer alike, so that ids can't be probed.
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
