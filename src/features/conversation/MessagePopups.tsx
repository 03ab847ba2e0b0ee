import { useCallback, useMemo, useRef, useState } from 'react';
import type { MessageView } from '../../store/chats.ts';
import type { MessageChanges } from '../../store/useMessageChanges.ts';
import { onDemand } from '../../ui/onDemand.tsx';
import { abilitiesOf } from './abilities.ts';
import type { MenuAnchor } from './menuAnchor.ts';
import { messageState, type ReceiptState } from './messageState.ts';

// One of each for all messages, as only one is open at a time.
const Menu = onDemand(async () => (await import('./MessageMenuPopup.tsx')).MessageMenuPopup);
const Details = onDemand(async () => (await import('./MessageDetailsDialog.tsx')).MessageDetailsDialog);
const Replacing = onDemand(async () => (await import('./ReplacePinDialog.tsx')).ReplacePinDialog);
const Deletion = onDemand(async () => (await import('./DeleteMessageDialog.tsx')).DeleteMessageDialog);
const Versions = onDemand(async () => (await import('./VersionsDialog.tsx')).VersionsDialog);
const Forward = onDemand(async () => (await import('./ForwardDialog.tsx')).ForwardDialog);
const Reactors = onDemand(async () => (await import('./ReactorsPopover.tsx')).ReactorsPopover);
const Picker = onDemand(async () => (await import('../emoji/ReactionPicker.tsx')).ReactionPicker);

type PopupKind =
  | 'menu'
  | 'details'
  | 'deletion'
  | 'versions'
  | 'reactors'
  | 'picker'
  | 'forward'
  | 'replacing';

interface Popup {
  readonly open: boolean;
  readonly message: MessageView;
  readonly anchor: MenuAnchor;
}

type Popups = Readonly<Partial<Record<PopupKind, Popup>>>;

/** Returns all that is open about messages, and functions that open it, the same from one drawing to the next. */
export function useMessagePopups() {
  const [popups, setPopups] = useState<Popups>({});
  const show = useCallback(
    (kind: PopupKind, message: MessageView, anchor: MenuAnchor = document.body) =>
      setPopups((before) => ({ ...before, [kind]: { open: true, message, anchor } })),
    [],
  );
  const close = useCallback(
    (kind: PopupKind) =>
      setPopups((before) => {
        const popup = before[kind];
        return popup === undefined ? before : { ...before, [kind]: { ...popup, open: false } };
      }),
    [],
  );
  return useMemo(() => ({ popups, show, close }), [popups, show, close]);
}

interface MessagePopupsProps extends ReturnType<typeof useMessagePopups> {
  messages: readonly MessageView[];
  pinned: readonly MessageView[];
  /** The next one takes the place of another. */
  isPinnedFull: boolean;
  ownId: string | undefined;
  /** Says "You" of the person. */
  nameOf: (userId: string) => string;
  receiptOf: (message: MessageView) => ReceiptState | null;
  changes: MessageChanges;
  canWrite: boolean;
  isNotes: boolean;
  onCopy: (text: string) => void;
  /** Returns the element that gets the focus when one closes. */
  returnFocus: () => HTMLElement | null;
  /** Returns the form's input, where the person goes on after choosing to answer or to edit. */
  toInput: () => HTMLElement | null;
}

/** The menu of a message, and what it leads to. */
export function MessagePopups(props: MessagePopupsProps) {
  const { popups, show, close, messages, ownId, nameOf, changes, returnFocus } = props;
  /** An answer or an edit was chosen from the menu that closes. */
  const goesToInput = useRef(false);

  /** The properties that all have in common; null for one that was never open. */
  function common(kind: PopupKind) {
    const popup = popups[kind];
    if (popup === undefined) return null;
    const { messageId } = popup.message;
    // As it is now: it may change while something is open about it.
    const now = messages.findLast((one) => one.messageId === messageId);
    const message = now ?? popup.message;
    const own = message.senderId === ownId;
    return {
      ...popup,
      // Its time may be over while its words are shown.
      open: popup.open && now !== undefined,
      message,
      own,
      abilities: abilitiesOf(message, { own, canWrite: props.canWrite, isNotes: props.isNotes }),
      onClose: () => close(kind),
      returnFocus,
    };
  }

  const menu = common('menu');
  const details = common('details');
  const deletion = common('deletion');
  const versions = common('versions');
  const reactors = common('reactors');
  const picker = common('picker');
  const forward = common('forward');
  const replacing = common('replacing');
  const fromMenu = (kind: PopupKind) => (message: MessageView) => show(kind, message, menu?.anchor);
  const thenWrite = (take: (message: MessageView) => void) => (message: MessageView) => {
    goesToInput.current = true;
    take(message);
  };

  return (
    <>
      {menu && (
        <Menu
          {...menu}
          ownId={ownId}
          isPinned={props.pinned.some(({ messageId }) => messageId === menu.message.messageId)}
          returnFocus={() => {
            const to = goesToInput.current ? props.toInput() : returnFocus();
            goesToInput.current = false;
            return to;
          }}
          onReact={changes.react}
          onReply={thenWrite(changes.reply)}
          onEdit={thenWrite(changes.edit)}
          onStar={changes.star}
          onPin={(message, isPinned) =>
            isPinned && props.isPinnedFull ? fromMenu('replacing')(message) : changes.pin(message, isPinned)
          }
          onForward={fromMenu('forward')}
          onPick={fromMenu('picker')}
          onReactors={fromMenu('reactors')}
          onDelete={fromMenu('deletion')}
          onDetails={fromMenu('details')}
          onCopy={props.onCopy}
        />
      )}
      {details && (
        <Details
          {...details}
          author={nameOf(details.message.senderId)}
          ownId={ownId}
          nameOf={nameOf}
          state={messageState(details.message, {
            own: details.own,
            receipt: props.receiptOf(details.message),
          })}
        />
      )}
      {deletion && (
        <Deletion
          {...deletion}
          isNote={props.isNotes}
          onEveryone={changes.deleteForEveryone}
          onHere={changes.deleteHere}
        />
      )}
      {versions && <Versions {...versions} load={changes.versions} />}
      {replacing && <Replacing {...replacing} onPin={changes.pin} />}
      {forward && <Forward {...forward} open={forward.open && forward.abilities.forward} />}
      {reactors && <Reactors {...reactors} nameOf={nameOf} />}
      {picker && <Picker {...picker} onPick={(emoji) => changes.react(picker.message, emoji)} />}
    </>
  );
}
