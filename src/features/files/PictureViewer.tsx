import { useAtomValue } from 'jotai';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { fileName } from '../../i18n/fileName.ts';
import { t } from '../../i18n/i18n.ts';
import { activeConversationAtom, chatsAtom } from '../../store/chats.ts';
import { type AttachedFile, type FilePlace, uploadsAtom } from '../../store/files.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { FilmPlayer } from './FilmPlayer.tsx';
import { mediaWords } from './fileWords.ts';
import { Glyph } from './glyphs.tsx';
import styles from './PictureViewer.module.css';
import { useFileUrl } from './useFileUrl.ts';
import { useMedia } from './useMedia.ts';
import { useSave } from './useSave.ts';
import { useZoom } from './useZoom.ts';

interface ShownPicture {
  readonly place: FilePlace;
  readonly file: AttachedFile;
}

export interface PictureViewerProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  /** The picture that was pressed. */
  first: ShownPicture;
  /** The pictures and films of a gallery, ascending by time, in place of the pictures of the open conversation. */
  gallery?: ShownGallery;
}

export interface ShownGallery {
  readonly items: readonly ShownPicture[];
  /** The oldest of them is shown: there may be more. */
  readonly onOldest: () => void;
  readonly onGoTo: (messageId: string) => void;
}

/** Shows a picture large, and from it those before and after it in the conversation. */
export function PictureViewer({ open, onOpenChange, first, gallery }: PictureViewerProps) {
  const [picture, setPicture] = useState(first);
  const inChat = usePictures();
  const pictures = gallery?.items ?? inChat;
  const at = pictures.findIndex((one) => isSame(one, picture));
  // It was there as it was shown: its message has been deleted since, or is over. The first one of a chat goes with its message.
  const isGone = at < 0 && (gallery !== undefined || !isSame(picture, first));
  const isLeaving = useRef(false);
  const close = (isOpen: boolean) => {
    onOpenChange(isOpen);
    setPicture(first);
  };
  return (
    <Dialog
      wide
      open={open && !isGone}
      onOpenChange={close}
      returnsFocus={() => !isLeaving.current}
      // Nobody has closed it where its picture is gone.
      onClosed={() => {
        if (open) close(false);
      }}
      title={<bdi>{fileName(picture.file)}</bdi>}
    >
      <Viewer
        {...{ at, gallery, picture, pictures }}
        onShow={setPicture}
        onGoTo={() => {
          isLeaving.current = true;
          gallery?.onGoTo(picture.place.messageId);
        }}
      />
    </Dialog>
  );
}

function isSame(one: ShownPicture, other: ShownPicture): boolean {
  return keyOf(one) === keyOf(other);
}

function keyOf({ place: { index, messageId } }: ShownPicture): string {
  return `${messageId}/${index}`;
}

interface ViewerProps {
  picture: ShownPicture;
  pictures: readonly ShownPicture[];
  /** Its index among them; -1 where it is not. */
  at: number;
  gallery: ShownGallery | undefined;
  onShow: (picture: ShownPicture) => void;
  onGoTo: () => void;
}

function Viewer({ at, gallery, picture: { file, place }, pictures, onShow, onGoTo }: ViewerProps) {
  const isFilm = file.kind === 'film';
  const { fail, problem, retry, url } = useFileUrl(place, file, !isFilm);
  const save = useSave(place, file);
  const box = useRef<HTMLDivElement>(null);
  const { larger, move, pointers, reset, smaller, zoom } = useZoom(box, url);
  const [previous, next] = [pictures[at - 1], at < 0 ? undefined : pictures[at + 1]];
  const isWhole = zoom.scale === 1;
  const show = (picture: ShownPicture | undefined) => picture !== undefined && onShow(picture);
  const goesOn = useEffectEvent(() => gallery?.onOldest());
  useEffect(() => {
    if (at === 0) goesOn();
  }, [at]);

  const keys: Readonly<Record<string, () => unknown>> = {
    '+': larger,
    // The same key without Shift, on many keyboards.
    '=': larger,
    '-': smaller,
    0: reset,
    ArrowLeft: () => (isWhole ? show(previous) : move(-1, 0)),
    ArrowRight: () => (isWhole ? show(next) : move(1, 0)),
    ArrowUp: () => move(0, -1),
    ArrowDown: () => move(0, 1),
  };
  const onKey = useRef(keys);
  useEffect(() => {
    onKey.current = keys;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(onKey.current, event.key)) return;
      // A film that plays is moved by the same keys.
      if (event.target instanceof HTMLMediaElement) return;
      event.preventDefault();
      onKey.current[event.key]?.();
    };
    // The dialog keeps the arrows to itself.
    document.addEventListener('keydown', onKeyDown, true);
    return () => document.removeEventListener('keydown', onKeyDown, true);
  }, []);

  const percent = Math.round(zoom.scale * 100);
  return (
    <>
      <div
        ref={box}
        className={styles.box}
        data-enlarged={!isWhole || undefined}
        // They would keep a click from the film’s own controls.
        {...(isFilm ? {} : pointers)}
      >
        {isFilm ? (
          <Film key={keyOf({ file, place })} place={place} file={file} />
        ) : url === null ? (
          problem === null && <Spinner />
        ) : (
          <img
            key={keyOf({ file, place })}
            className={styles.picture}
            style={{ transform: `translate(${zoom.x}px, ${zoom.y}px) scale(${zoom.scale})` }}
            src={url}
            alt={mediaWords(file)}
            draggable={false}
            onError={fail}
          />
        )}
        {!isFilm && problem !== null && (
          <p className={styles.problem} role="alert">
            {problem}
            {retry !== null && (
              <Button size="small" variant="quiet" onClick={retry}>
                {t('files.tryAgain')}
              </Button>
            )}
          </p>
        )}
      </div>
      {file.description !== '' && <p className={styles.words}>{file.description}</p>}
      <div className={styles.controls}>
        <IconButton
          label={t(gallery === undefined ? 'files.previousPicture' : 'gallery.previous')}
          icon={<Glyph shape="previous" />}
          disabled={previous === undefined}
          onClick={() => show(previous)}
        />
        {at >= 0 && gallery === undefined && (
          <span className={styles.count}>
            {t('files.pictureOf', { number: at + 1, count: pictures.length })}
          </span>
        )}
        <IconButton
          label={t(gallery === undefined ? 'files.nextPicture' : 'gallery.next')}
          icon={<Glyph shape="next" />}
          disabled={next === undefined}
          onClick={() => show(next)}
        />
        {!isFilm && (
          <span className={styles.zoom}>
            <IconButton
              label={t('files.zoomOut')}
              icon={<Glyph shape="minus" />}
              disabled={isWhole}
              onClick={smaller}
            />
            <output className={styles.count}>{t('files.zoomLevel', { percent })}</output>
            <IconButton label={t('files.zoomIn')} icon={<Glyph shape="plus" />} onClick={larger} />
            <IconButton
              label={t('files.zoomFit')}
              icon={<Glyph shape="whole" />}
              disabled={isWhole}
              onClick={reset}
            />
          </span>
        )}
        {gallery !== undefined && <Button onClick={onGoTo}>{t('gallery.goTo')}</Button>}
        <Button onClick={save}>{t('files.download')}</Button>
      </div>
    </>
  );
}

function Film({ file, place }: ShownPicture) {
  const media = useMedia(place, file);
  return <FilmPlayer media={media} file={file} name={mediaWords(file)} isHere isLarge tabIndex={0} />;
}

/** The pictures of the open conversation, as far as it has been read. */
function usePictures(): readonly ShownPicture[] {
  const key = useAtomValue(activeConversationAtom);
  const chat = useAtomValue(chatsAtom)[key ?? ''];
  const uploads = useAtomValue(uploadsAtom);
  return (chat?.messages ?? []).flatMap(({ content, conversationId, messageId }) =>
    content.kind !== 'files' || uploads[messageId] !== undefined
      ? []
      : content.files.flatMap((file, index) =>
          file.kind === 'picture' ? [{ file, place: { conversationId, messageId, index } }] : [],
        ),
  );
}
