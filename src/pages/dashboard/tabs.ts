/** The tabs that the dashboard doesn't start with: loaded at once, as one file. */
export { ContactsTab } from '../../features/contacts/ContactsTab.tsx';
export { GroupsTab } from '../../features/groups/GroupsTab.tsx';
export { ProfilePanel } from './ProfilePanel.tsx';
