import blocks from './blocks.json';
import invitations from './invitations.json';
import profile from './profile.json';
import reports from './reports.json';
import retention from './retention.json';
import settings from './settings.json';
import unvouched from './unvouched.json';

export default { blocks, invitations, profile, reports, retention, settings, unvouched };
