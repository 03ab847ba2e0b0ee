import { useAtomValue } from 'jotai';
import { Download, File as FileIcon, MessageCircle } from 'lucide-react';
import { byteText } from '../../i18n/byteText.ts';
import { fileName } from '../../i18n/fileName.ts';
import { t } from '../../i18n/i18n.ts';
import { ownOrOtherNameAtom } from '../../store/mentions.ts';
import { messageTime } from '../../store/messageTime.ts';
import { IconButton } from '../../ui/Button.tsx';
import { fullTimestamp } from '../../ui/format.ts';
import { VirtualList } from '../../ui/VirtualList.tsx';
import { type GalleryPartProps, NearEnd } from './GalleryGrid.tsx';
import styles from './GalleryList.module.css';
import type { GalleryItem } from './galleryItems.ts';
import { SoundPlayer } from './SoundPlayer.tsx';
import { DownloadLine } from './TransferLine.tsx';
import { useMedia } from './useMedia.ts';
import { useSave } from './useSave.ts';

const keyOf = ({ key }: GalleryItem) => key;
/** Pixels. */
const estimatedHeight = 64;

interface GalleryListProps extends GalleryPartProps {
  label: string;
}

/** Files and sounds, a row each. */
export function GalleryList({ label, items, page, onNearEnd, onGoTo }: GalleryListProps) {
  const last = items.at(-1);
  return (
    <VirtualList label={label} items={items} keyOf={keyOf} estimatedHeight={estimatedHeight}>
      {(item, { tabIndex }) => (
        <>
          <Row item={item} tabIndex={tabIndex} onGoTo={onGoTo} />
          {item === last && <NearEnd page={page} onNearEnd={onNearEnd} />}
        </>
      )}
    </VirtualList>
  );
}

interface RowProps extends Pick<GalleryPartProps, 'onGoTo'> {
  item: GalleryItem;
  tabIndex: 0 | -1;
}

function Row({ item, tabIndex, onGoTo }: RowProps) {
  const { file, message, place } = item;
  const nameOf = useAtomValue(ownOrOtherNameAtom);
  const save = useSave(place, file);
  const isVoice = file.kind === 'voice';
  const name = isVoice ? t('files.voice') : fileName(file);
  const { shown } = messageTime(message);
  const time = fullTimestamp(shown);
  return (
    <div className={styles.row}>
      {file.kind === 'file' && <FileIcon aria-hidden="true" />}
      <span className={styles.words}>
        {!isVoice && <bdi className={styles.name}>{name}</bdi>}
        {file.kind !== 'file' && <Sound item={item} name={name} tabIndex={tabIndex} />}
        <span className={styles.facts}>
          {!isVoice && <>{byteText(file.size)} · </>}
          <bdi>{nameOf(message.senderId)}</bdi> · <time dateTime={shown}>{time}</time>
        </span>
        <DownloadLine place={place} tabIndex={tabIndex} />
      </span>
      <span className={styles.actions}>
        <IconButton
          size="small"
          tabIndex={tabIndex}
          label={t('files.downloadNamed', { name })}
          icon={<Download aria-hidden="true" />}
          onClick={save}
        />
        <IconButton
          size="small"
          tabIndex={tabIndex}
          label={t('gallery.goToNamed', { name, time })}
          icon={<MessageCircle aria-hidden="true" />}
          onClick={() => onGoTo(message.messageId)}
        />
      </span>
    </div>
  );
}

function Sound({ item: { file, place }, name, tabIndex }: Omit<RowProps, 'onGoTo'> & { name: string }) {
  const media = useMedia(place, file);
  return (
    <SoundPlayer
      media={media}
      name={name}
      duration={file.duration}
      waveform={file.waveform}
      tabIndex={tabIndex}
    />
  );
}
