import { useAtomValue } from 'jotai';
import { Download, File as FileIcon } from 'lucide-react';
import { Fragment, useState } from 'react';
import { byteText } from '../../i18n/byteText.ts';
import { fileName } from '../../i18n/fileName.ts';
import { t } from '../../i18n/i18n.ts';
import type { MessageView } from '../../store/chats.ts';
import { type AttachedFile, type FileKind, type FilePlace, uploadsAtom } from '../../store/files.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { onDemand } from '../../ui/onDemand.tsx';
import styles from './FilesContent.module.css';
import { FilmPlayer } from './FilmPlayer.tsx';
import { pictureWords } from './fileWords.ts';
import type { PictureViewerProps } from './PictureViewer.tsx';
import { previewUrl } from './preview.ts';
import { SoundPlayer } from './SoundPlayer.tsx';
import { DownloadLine, UploadLine } from './TransferLine.tsx';
import { useFileUrl } from './useFileUrl.ts';
import { useMedia } from './useMedia.ts';
import { useSave } from './useSave.ts';

const PictureViewer = onDemand<PictureViewerProps>(
  async () => (await import('./PictureViewer.tsx')).PictureViewer,
);

export interface FilesContentProps {
  open: boolean;
  message: MessageView;
  /** True if the Tab key reaches its controls. */
  reachable: boolean;
}

/** The files of a message: pictures as such, all else as rows to download; and how far they have come on their way out. */
export function FilesContent({ message, reachable }: FilesContentProps) {
  const upload = useAtomValue(uploadsAtom)[message.messageId];
  if (message.content.kind !== 'files') return null;
  const { conversationId, messageId } = message;
  const tabIndex = reachable ? 0 : -1;
  return (
    <div className={styles.files}>
      {message.content.files.map((file, index) => {
        const place = { conversationId, messageId, index };
        const props = { file, place, isHere: upload === undefined, tabIndex };
        const Part = parts[file.kind];
        return (
          // oxlint-disable-next-line react/no-array-index-key -- the files of one message never change places
          <Fragment key={index}>
            <Part {...props} />
            <DownloadLine place={place} tabIndex={tabIndex} />
          </Fragment>
        );
      })}
      {upload !== undefined && <UploadLine messageId={messageId} tabIndex={tabIndex} />}
    </div>
  );
}

interface PartProps {
  file: AttachedFile;
  place: FilePlace;
  /** The relay has it, and the worker its key. */
  isHere: boolean;
  tabIndex: number;
}

function Picture({ file, isHere, place, tabIndex }: PartProps) {
  const { problem, retry, url } = useFileUrl(place, file, isHere);
  const [isOpen, setOpen] = useState(false);
  const words = pictureWords(file);
  const ratio =
    file.width === undefined || file.height === undefined ? undefined : `${file.width} / ${file.height}`;
  return (
    <figure className={styles.picture}>
      <button
        type="button"
        className={styles.open}
        tabIndex={tabIndex}
        aria-label={t('files.view', { name: words })}
        aria-haspopup="dialog"
        disabled={url === null}
        onClick={() => setOpen(true)}
      >
        {url === null && file.preview !== undefined ? (
          <img
            className={styles.preview}
            style={{ aspectRatio: ratio }}
            src={previewUrl(file.preview)}
            alt={words}
          />
        ) : (
          <img className={styles.image} style={{ aspectRatio: ratio }} src={url ?? undefined} alt={words} />
        )}
      </button>
      {problem !== null && (
        <figcaption className={styles.problem}>
          {problem}
          <Button size="small" variant="quiet" tabIndex={tabIndex} onClick={retry}>
            {t('files.tryAgain')}
          </Button>
        </figcaption>
      )}
      <PictureViewer open={isOpen} onOpenChange={setOpen} first={{ place, file }} />
    </figure>
  );
}

function Film(props: PartProps) {
  const { file, isHere, place, tabIndex } = props;
  const media = useMedia(place, file);
  const name = file.description || t('files.filmNamed', { name: fileName(file) });
  return (
    <>
      <FilmPlayer media={media} file={file} name={name} isHere={isHere} tabIndex={tabIndex} />
      <Row {...props} />
    </>
  );
}

function Sound(props: PartProps) {
  const { file, isHere, place, tabIndex } = props;
  const media = useMedia(place, file);
  const { duration, kind, waveform } = file;
  const name = kind === 'voice' ? t('files.voice') : fileName(file);
  return (
    <>
      {isHere && (
        <SoundPlayer media={media} name={name} duration={duration} waveform={waveform} tabIndex={tabIndex} />
      )}
      {(kind !== 'voice' || media.problem !== null) && <Row {...props} />}
    </>
  );
}

function Row({ file, isHere, place, tabIndex }: PartProps) {
  const save = useSave(place, file);
  return (
    <div className={styles.row}>
      <FileIcon aria-hidden="true" />
      <span className={styles.words}>
        <bdi className={styles.name}>{fileName(file)}</bdi>
        <span className={styles.size}>{byteText(file.size)}</span>
      </span>
      {isHere && (
        <IconButton
          size="small"
          tabIndex={tabIndex}
          label={t('files.downloadNamed', { name: fileName(file) })}
          icon={<Download aria-hidden="true" />}
          onClick={save}
        />
      )}
    </div>
  );
}

const parts: Readonly<Record<FileKind, typeof Row>> = {
  picture: Picture,
  film: Film,
  audio: Sound,
  voice: Sound,
  file: Row,
};
