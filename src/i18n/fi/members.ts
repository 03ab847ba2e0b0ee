import attention from './attention.json';
import confirmation from './confirmation.json';
import dashboard from './dashboard.json';
import devices from './devices.json';
import format from './format.json';
import keys from './keys.json';
import messages from './messages.json';
import notes from './notes.json';
import notifications from './notifications.json';
import recovery from './recovery.json';
import trust from './trust.json';

export default {
  attention,
  confirmation,
  dashboard,
  devices,
  format,
  keys,
  messages,
  notes,
  notifications,
  recovery,
  trust,
};
