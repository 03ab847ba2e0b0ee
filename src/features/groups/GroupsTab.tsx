import { useAtomValue, useSetAtom } from 'jotai';
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { t } from '../../i18n/i18n.ts';
import { requiredActionsAtom } from '../../store/actions.ts';
import { attemptAtom } from '../../store/attempt.ts';
import { activeGroupAtom } from '../../store/chats.ts';
import { type Group, groupsAtom } from '../../store/groups.ts';
import { PartBoundary } from '../../ui/PartBoundary.tsx';
import { useMediaQuery } from '../../ui/useMediaQuery.ts';
import type { VirtualListHandle } from '../../ui/VirtualList.tsx';
import { Panes } from '../conversation/Panes.tsx';
import { GroupList } from './GroupList.tsx';
import { GroupPane } from './GroupPane.tsx';
import { NoGroupOpen } from './NoGroupOpen.tsx';

/** From this width on, a group's details stand beside its messages; else in their place. */
const detailsBeside = '(min-width: 80rem)';

interface GroupsTabProps {
  /** Id of the open group. */
  open: string | null;
  details: boolean;
  /** Each new positive number moves the focus to the open group's input. */
  focusRequest: number;
  /** Stands above the messages of the open group. */
  noticeOf?: (group: Group) => ReactNode;
  onOpen: (groupId: string) => void;
  onClose: () => void;
  /** `asPage`: the details take the place of the messages. */
  onDetailsChange: (details: boolean, how: { asPage: boolean }) => void;
}

/**
 * The list beside the open group; on a phone one of the two. A group counts as open (and its messages as read) only
 * while this tab is shown.
 */
export function GroupsTab(props: GroupsTabProps) {
  const { open, details, focusRequest, noticeOf, onOpen, onClose, onDetailsChange } = props;
  const groups = useAtomValue(groupsAtom);
  const [creating, setCreating] = useState(false);
  const beside = useMediaQuery(detailsBeside);
  const group = groups.items.find(({ id }) => id === open);
  useOpenGroup(open);

  const list = useRef<VirtualListHandle>(null);
  const shown = useRef<string | null>(null);
  const refocus = useEffectEvent((wanted: string | null) => {
    // The closed group took the focus along: the person goes on from its row.
    if (wanted === null && shown.current !== null) list.current?.focus(shown.current);
    shown.current = wanted;
  });
  useEffect(() => refocus(open), [open]);

  // The open group was deleted, or left in another browser.
  const gone = open !== null && groups.loaded && group === undefined;
  const closeGone = useEffectEvent(onClose);
  useEffect(() => {
    if (gone) closeGone();
  }, [gone]);

  // An empty list leaves room for the welcome below it.
  const narrow = group ? 'open' : groups.loaded && groups.items.length === 0 ? 'both' : 'list';
  return (
    <Panes
      narrow={narrow}
      list={
        <PartBoundary part="group-list">
          <GroupList
            handle={list}
            open={open}
            onOpen={onOpen}
            creating={creating}
            onCreatingChange={setCreating}
            onCreated={(id) => {
              setCreating(false);
              onOpen(id);
            }}
          />
        </PartBoundary>
      }
    >
      {group ? (
        <GroupPane
          key={group.id}
          group={group}
          details={details ? (beside ? 'beside' : 'instead') : 'closed'}
          focusRequest={focusRequest}
          notice={noticeOf?.(group)}
          onClose={onClose}
          onDetailsChange={(next) => onDetailsChange(next, { asPage: !beside })}
        />
      ) : (
        <NoGroupOpen
          first={groups.items.length === 0}
          known={groups.loaded}
          onCreate={creating ? undefined : () => setCreating(true)}
        />
      )}
    </Panes>
  );
}

/** Tells the services which group is open, and that none is once the tab is left. */
function useOpenGroup(open: string | null) {
  const actions = useAtomValue(requiredActionsAtom);
  const active = useAtomValue(activeGroupAtom);
  const attempt = useSetAtom(attemptAtom);

  const follow = useEffectEvent((wanted: string | null) => {
    if (wanted === active) return;
    void attempt(() => actions.openGroup(wanted), { failure: t('groups.openFailed') });
  });
  // Closing fails only when the session has ended, and then there is nothing left to close.
  const leave = useEffectEvent(() => void actions.openGroup(null).catch(() => undefined));
  useEffect(() => follow(open), [open]);
  useEffect(() => () => leave(), []);
}
