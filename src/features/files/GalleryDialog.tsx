import { Tabs } from '@base-ui/react/tabs';
import { useAtomValue, useSetAtom } from 'jotai';
import { File as FileIcon, Images, Mic } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { MessageId } from '../../i18n/catalogue.ts';
import { t } from '../../i18n/i18n.ts';
import type { ConversationKey } from '../../store/chats.ts';
import { offlineAtom } from '../../store/connection.ts';
import { galleryAtom, galleryShelves, type ShelfName } from '../../store/gallery.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { LoadFailure } from '../../ui/LoadFailure.tsx';
import { LoadingLine } from '../../ui/Spinner.tsx';
import styles from './GalleryDialog.module.css';
import { GalleryGrid } from './GalleryGrid.tsx';
import { GalleryList } from './GalleryList.tsx';
import { useShelf } from './useShelf.ts';

export interface GalleryDialogProps {
  conversationKey: ConversationKey;
  open: boolean;
  onClose: () => void;
  /** Leads to a message, once this is closed. */
  onGoTo: (messageId: string) => void;
}

const looks: Readonly<
  Record<
    ShelfName,
    {
      readonly icon: ReactNode;
      readonly label: MessageId;
      readonly none: MessageId;
      readonly hint: MessageId;
    }
  >
> = {
  media: {
    icon: <Images />,
    label: 'gallery.media',
    none: 'gallery.noMedia',
    hint: 'gallery.noMediaHint',
  },
  files: {
    icon: <FileIcon />,
    label: 'gallery.files',
    none: 'gallery.noFiles',
    hint: 'gallery.noFilesHint',
  },
  audio: {
    icon: <Mic />,
    label: 'gallery.audio',
    none: 'gallery.noAudio',
    hint: 'gallery.noAudioHint',
  },
};
const shelfNames = Object.keys(galleryShelves) as ShelfName[];

/** The pictures, films, files and sounds of a conversation, newest first. */
export function GalleryDialog({ conversationKey, open, onClose, onGoTo }: GalleryDialogProps) {
  const wanted = useRef<string | null>(null);
  return (
    <Dialog
      wide
      open={open}
      onOpenChange={() => {
        wanted.current = null;
        onClose();
      }}
      // The message gets it.
      returnsFocus={() => wanted.current === null}
      onClosed={() => {
        if (wanted.current !== null) onGoTo(wanted.current);
      }}
      title={t('gallery.title')}
    >
      <Shelves
        conversationKey={conversationKey}
        onGoTo={(messageId) => {
          wanted.current = messageId;
          onClose();
        }}
      />
    </Dialog>
  );
}

type ShelvesProps = Pick<GalleryDialogProps, 'conversationKey' | 'onGoTo'>;

function Shelves({ conversationKey, onGoTo }: ShelvesProps) {
  const [name, setName] = useState<ShelfName>('media');
  const setGallery = useSetAtom(galleryAtom);
  const isOpen = useAtomValue(galleryAtom)?.key === conversationKey;
  const offline = useAtomValue(offlineAtom);
  useEffect(() => {
    setGallery({ key: conversationKey, shelves: {} });
    return () => setGallery(null);
  }, [conversationKey, setGallery]);
  return (
    <Tabs.Root value={name} onValueChange={(value: ShelfName) => setName(value)}>
      <Tabs.List className={styles.tabs} aria-label={t('gallery.kinds')} activateOnFocus>
        {shelfNames.map((one) => (
          <Tabs.Tab key={one} value={one} className={styles.tab}>
            {t(looks[one].label)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {offline && <p className={styles.offline}>{t('gallery.offline')}</p>}
      {shelfNames.map((one) => (
        <Tabs.Panel key={one} value={one} className={styles.panel}>
          {isOpen && <ShelfPanel name={one} conversationKey={conversationKey} onGoTo={onGoTo} />}
        </Tabs.Panel>
      ))}
    </Tabs.Root>
  );
}

function ShelfPanel({ name, conversationKey, onGoTo }: ShelvesProps & { name: ShelfName }) {
  const { failure, items, isAtEnd, isLoading, load, page } = useShelf(conversationKey, name);
  const panel = useRef<HTMLDivElement>(null);
  const { hint, icon, none } = looks[name];
  const isEmpty = items.length === 0;
  const shown = { items, page, onNearEnd: load, onGoTo };
  return (
    // It gets the focus once a button in it is gone.
    <div ref={panel} className={styles.shelf} tabIndex={-1} aria-busy={isLoading}>
      {!isEmpty &&
        (name === 'media' ? (
          <GalleryGrid {...shown} />
        ) : (
          <GalleryList label={t(looks[name].label)} {...shown} />
        ))}
      {failure !== null && (
        <LoadFailure sentence={failure} isOld={false} busy={isLoading} onRetry={load} focusAfter={panel} />
      )}
      {failure === null && !isAtEnd && (
        <div className={styles.loading}>
          <LoadingLine text={t('gallery.loading')} />
        </div>
      )}
      {isEmpty && isAtEnd && (
        <EmptyState icon={icon} title={t(none)}>
          {t(hint)}
        </EmptyState>
      )}
    </div>
  );
}
