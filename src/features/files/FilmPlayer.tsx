import { t } from '../../i18n/i18n.ts';
import type { AttachedFile } from '../../store/files.ts';
import { Spinner } from '../../ui/Spinner.tsx';
import { durationText } from './durationText.ts';
import styles from './FilmPlayer.module.css';
import { Glyph } from './glyphs.tsx';
import { onlyOnePlays } from './onePlays.ts';
import { previewUrl } from './preview.ts';
import type { Media } from './useMedia.ts';

interface FilmPlayerProps {
  media: Media;
  file: AttachedFile;
  /** Names the film. */
  name: string;
  isHere: boolean;
  /** As wide as there is room. */
  isLarge?: boolean;
  tabIndex: number;
}

/** Shows a film's still until it is played, and then the browser's own player, whose keys everybody knows. */
export function FilmPlayer({ media, file, name, isHere, isLarge = false, tabIndex }: FilmPlayerProps) {
  const { isLoading, problem, url } = media;
  const { duration, height, preview, width } = file;
  const ratio = width === undefined || height === undefined ? '16 / 9' : `${width} / ${height}`;
  return (
    <div className={styles.film} data-large={isLarge || undefined}>
      {url === null ? (
        <button
          type="button"
          className={styles.still}
          style={{ aspectRatio: ratio }}
          tabIndex={tabIndex}
          aria-label={t('files.playNamed', { name })}
          disabled={isLoading || !isHere}
          onClick={media.load}
        >
          {preview !== undefined && <img src={previewUrl(preview)} alt="" />}
          <span className={styles.mark}>{isLoading ? <Spinner /> : <Glyph shape="play" />}</span>
          {duration !== undefined && <span className={styles.time}>{durationText(duration / 1000)}</span>}
        </button>
      ) : (
        // oxlint-disable-next-line jsx-a11y/media-has-caption -- nobody has written down what is said
        <video
          className={styles.video}
          style={{ aspectRatio: ratio }}
          src={url}
          tabIndex={tabIndex}
          aria-label={name}
          controls
          controlsList="nodownload noremoteplayback"
          disableRemotePlayback
          playsInline
          // By itself it would wait until it takes the line to be fast enough for all of it.
          onLoadedMetadata={({ currentTarget }) => void currentTarget.play().catch(() => undefined)}
          onPlay={({ currentTarget }) => onlyOnePlays(currentTarget)}
          // The list of messages moves by the keys that move a film.
          onKeyDown={(event) => event.stopPropagation()}
          onError={media.fail}
        />
      )}
      {problem !== null && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
