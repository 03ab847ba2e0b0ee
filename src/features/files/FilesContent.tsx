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
import { mediaWords } from './fileWords.ts';
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
  const all = message.content.files.map((file, index) => {
    const place = { conversationId, messageId, index };
    return { file, place, isHere: upload === undefined, tabIndex };
  });
  const pictures = all.filter(({ file }) => file.kind === 'picture');
  const isGrid = pictures.length > 1;
  return (
    <div className={styles.files}>
      {isGrid && <Grid pictures={pictures} />}
      {all.map((props) => {
        const { file, place } = props;
        const Part = parts[file.kind];
        return (
          <Fragment key={place.index}>
            {!(isGrid && file.kind === 'picture') && <Part {...props} />}
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

/** Bytes above which a picture is not fetched before it is asked for. */
const fetchedAtOnce = 20 * 1024 * 1024;

/** Cells of a grid: who wants the other pictures finds them behind the last one. */
const mostCells = 6;

/** Pictures that came together, side by side. */
function Grid({ pictures }: { pictures: readonly PartProps[] }) {
  const cells = pictures.slice(0, mostCells);
  return (
    <div className={styles.grid} data-odd={cells.length % 2 === 1 || undefined}>
      {cells.map((props, at) => (
        <Picture
          key={props.place.index}
          {...props}
          isCell
          more={at === mostCells - 1 ? pictures.length - mostCells : 0}
        />
      ))}
    </div>
  );
}

interface PictureProps extends PartProps {
  /** One of several, which are cut to cells. */
  isCell?: boolean;
  /** The pictures behind it that have no cell. */
  more?: number;
}

function Picture({ file, isCell = false, isHere, more = 0, place, tabIndex }: PictureProps) {
  const isLarge = file.size > fetchedAtOnce;
  const { fail, problem, retry, url } = useFileUrl(place, file, isHere && !isLarge);
  const save = useSave(place, file);
  const [isOpen, setOpen] = useState(false);
  const words = mediaWords(file);
  const isSized = !isCell && file.width !== undefined && file.height !== undefined;
  const style = isSized ? { aspectRatio: `${file.width} / ${file.height}` } : undefined;
  return (
    <figure className={styles.picture} data-problem={problem !== null || undefined}>
      <button
        type="button"
        className={styles.open}
        tabIndex={tabIndex}
        aria-label={
          more > 0 ? t('files.viewMore', { name: words, count: more }) : t('files.view', { name: words })
        }
        aria-haspopup="dialog"
        disabled={isLarge ? !isHere : url === null}
        onClick={() => setOpen(true)}
      >
        {url === null && file.preview !== undefined ? (
          <img className={styles.preview} style={style} src={previewUrl(file.preview)} alt={words} />
        ) : (
          <img className={styles.image} style={style} src={url ?? undefined} alt={words} onError={fail} />
        )}
        {more > 0 && (
          <span className={styles.more} aria-hidden="true">
            {t('files.more', { count: more })}
          </span>
        )}
      </button>
      {problem !== null && (
        <figcaption className={styles.problem}>
          {problem}
          <Button size="small" variant="quiet" tabIndex={tabIndex} onClick={retry ?? save}>
            {t(retry === null ? 'files.download' : 'files.tryAgain')}
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
  const name = mediaWords(file);
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
