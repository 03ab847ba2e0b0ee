import blocks from './blocks.json';
import chat from './chat.json';
import contacts from './contacts.json';
import emoji from './emoji.json';
import events from './events.json';
import files from './files.json';
import forward from './forward.json';
import groups from './groups.json';
import invitations from './invitations.json';
import messageBackup from './messageBackup.json';
import movingOn from './movingOn.json';
import mute from './mute.json';
import profile from './profile.json';
import releases from './releases.json';
import reports from './reports.json';
import retention from './retention.json';
import sessions from './sessions.json';
import settings from './settings.json';
import shortcuts from './shortcuts.json';
import stars from './stars.json';
import timer from './timer.json';
import typing from './typing.json';
import unvouched from './unvouched.json';
import views from './views.json';

export default {
  blocks,
  chat,
  contacts,
  emoji,
  events,
  files,
  forward,
  groups,
  invitations,
  messageBackup,
  movingOn,
  mute,
  profile,
  releases,
  reports,
  retention,
  sessions,
  settings,
  shortcuts,
  stars,
  timer,
  typing,
  unvouched,
  views,
};
