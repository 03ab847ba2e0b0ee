import type { RealtimeServices } from '../realtime/realtimeServices.ts';
import { parseTopic } from './topics.ts';

/**
 * Who may subscribe to what: one's own messages, and the status of one's contacts. A topic that doesn't exist and one
 * that isn't yours answer alike, so that ids can't be probed.
 */
export async function maySubscribe(
  contacts: RealtimeServices['contacts'],
  userId: string,
  topicName: string,
): Promise<boolean> {
  const topic = parseTopic(topicName);
  if (topic?.kind === 'messages') return topic.userId === userId;
  if (topic?.kind === 'status') return contacts.areContacts(userId, topic.userId);
  return false;
}
