import { useAtomValue } from 'jotai';
import { useEffect, useRef, useState } from 'react';
import { fileName } from '../../i18n/fileName.ts';
import { t } from '../../i18n/i18n.ts';
import { activeConversationAtom, chatsAtom } from '../../store/chats.ts';
import { type AttachedFile, type FilePlace, uploadsAtom } from '../../store/files.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { pictureWords } from './fileWords.ts';
import { Glyph } from './glyphs.tsx';
import styles from './PictureViewer.module.css';
import { useFileUrl } from './useFileUrl.ts';
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
}

/** Shows a picture large, and from it those before and after it in the conversation. */
export function PictureViewer({ open, onOpenChange, first }: PictureViewerProps) {
  const [picture, setPicture] = useState(first);
  const close = (isOpen: boolean) => {
    onOpenChange(isOpen);
    setPicture(first);
  };
  return (
    <Dialog wide open={open} onOpenChange={close} title={<bdi>{fileName(picture.file)}</bdi>}>
      <Viewer picture={picture} onShow={setPicture} />
    </Dialog>
  );
}

interface ViewerProps {
  picture: ShownPicture;
  onShow: (picture: ShownPicture) => void;
}

function Viewer({ picture: { file, place }, onShow }: ViewerProps) {
  const pictures = usePictures();
  const { fail, problem, retry, url } = useFileUrl(place, file, true);
  const save = useSave(place, file);
  const box = useRef<HTMLDivElement>(null);
  const { larger, move, pointers, reset, smaller, zoom } = useZoom(box, url);
  const at = pictures.findIndex(
    (one) => one.place.messageId === place.messageId && one.place.index === place.index,
  );
  const [previous, next] = [pictures[at - 1], at < 0 ? undefined : pictures[at + 1]];
  const isWhole = zoom.scale === 1;
  const show = (picture: ShownPicture | undefined) => picture !== undefined && onShow(picture);

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
      <div ref={box} className={styles.box} data-enlarged={!isWhole || undefined} {...pointers}>
        {url === null ? (
          problem === null && <Spinner />
        ) : (
          <img
            className={styles.picture}
            style={{ transform: `translate(${zoom.x}px, ${zoom.y}px) scale(${zoom.scale})` }}
            src={url}
            alt={pictureWords(file)}
            draggable={false}
            onError={fail}
          />
        )}
        {problem !== null && (
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
          label={t('files.previousPicture')}
          icon={<Glyph shape="previous" />}
          disabled={previous === undefined}
          onClick={() => show(previous)}
        />
        {at >= 0 && (
          <span className={styles.count}>
            {t('files.pictureOf', { number: at + 1, count: pictures.length })}
          </span>
        )}
        <IconButton
          label={t('files.nextPicture')}
          icon={<Glyph shape="next" />}
          disabled={next === undefined}
          onClick={() => show(next)}
        />
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
        <Button onClick={save}>{t('files.download')}</Button>
      </div>
    </>
  );
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
