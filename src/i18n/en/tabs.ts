import blocks from './blocks.json';
import profile from './profile.json';
import reports from './reports.json';
import retention from './retention.json';
import sessions from './sessions.json';
import settings from './settings.json';
import unvouched from './unvouched.json';

export default { blocks, profile, reports, retention, sessions, settings, unvouched };
