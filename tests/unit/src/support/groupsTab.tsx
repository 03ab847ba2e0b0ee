import { screen } from '@testing-library/react';
import { useState } from 'react';
import { GroupsTab } from '#src/features/groups/GroupsTab.tsx';
import { type Chat, chatsAtom, type MessageView } from '#src/store/chats.ts';
import { contactsAtom } from '#src/store/contacts.ts';
import { type Group, groupsAtom } from '#src/store/groups.ts';
import { memberNamesAtom } from '#src/store/names.ts';
import { chat, createWorld, kaisa, loaded, veikko, withOpening } from './app.tsx';
import { group, memberNames } from './groups.ts';

/** The tab as the dashboard holds it. */
export function Tab() {
  const [open, setOpen] = useState<string | null>(null);
  const [details, setDetails] = useState(false);
  return (
    <GroupsTab
      open={open}
      details={details}
      focusRequest={0}
      onOpen={setOpen}
      onClose={() => setOpen(null)}
      onDetailsChange={setDetails}
    />
  );
}

export function showGroups(groups: readonly Group[] = [], chats: Record<string, Chat> = {}) {
  const world = createWorld();
  world.store.set(contactsAtom, loaded(veikko, kaisa));
  world.store.set(groupsAtom, loaded(...groups));
  world.store.set(memberNamesAtom, memberNames);
  world.store.set(chatsAtom, chats);
  withOpening(world);
  const user = world.show(<Tab />);
  return { ...world, user };
}

/** The tab with one group, which the person has opened. */
export async function openGroup(
  groupRest: Partial<Group> = {},
  messages: readonly MessageView[] = [],
  state: Parameters<typeof chat>[1] = {},
) {
  const shown = group(groupRest);
  const world = showGroups([shown], { 'group-group-1': chat(messages, state) });
  await world.user.click(screen.getByRole('button', { name: /members?$|Creator$|Ended$|You left$/ }));
  return world;
}
