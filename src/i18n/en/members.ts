import accountChanges from './accountChanges.json';
import attention from './attention.json';
import chat from './chat.json';
import confirmation from './confirmation.json';
import contacts from './contacts.json';
import dashboard from './dashboard.json';
import devices from './devices.json';
import emoji from './emoji.json';
import events from './events.json';
import format from './format.json';
import groups from './groups.json';
import keys from './keys.json';
import messages from './messages.json';
import notes from './notes.json';
import notifications from './notifications.json';
import recovery from './recovery.json';
import trust from './trust.json';

export default {
  accountChanges,
  keys,
  attention,
  chat,
  confirmation,
  contacts,
  dashboard,
  devices,
  emoji,
  events,
  format,
  groups,
  messages,
  notes,
  notifications,
  recovery,
  trust,
};
