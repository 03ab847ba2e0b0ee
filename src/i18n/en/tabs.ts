import accountChanges from './accountChanges.json';
import blocks from './blocks.json';
import chat from './chat.json';
import contacts from './contacts.json';
import deviceList from './deviceList.json';
import emoji from './emoji.json';
import events from './events.json';
import files from './files.json';
import forward from './forward.json';
import gallery from './gallery.json';
import groups from './groups.json';
import invitations from './invitations.json';
import keyNotices from './keyNotices.json';
import messageBackup from './messageBackup.json';
import movingOn from './movingOn.json';
import mute from './mute.json';
import pinned from './pinned.json';
import profile from './profile.json';
import recoveryForms from './recoveryForms.json';
import releases from './releases.json';
import reports from './reports.json';
import retention from './retention.json';
import safetyNumber from './safetyNumber.json';
import sessions from './sessions.json';
import settings from './settings.json';
import shortcuts from './shortcuts.json';
import stars from './stars.json';
import timer from './timer.json';
import typing from './typing.json';
import unvouched from './unvouched.json';
import views from './views.json';

export default {
  accountChanges,
  blocks,
  chat,
  contacts,
  deviceList,
  emoji,
  events,
  files,
  forward,
  gallery,
  groups,
  invitations,
  keyNotices,
  messageBackup,
  movingOn,
  mute,
  pinned,
  profile,
  recoveryForms,
  releases,
  reports,
  retention,
  safetyNumber,
  sessions,
  settings,
  shortcuts,
  stars,
  timer,
  typing,
  unvouched,
  views,
};
