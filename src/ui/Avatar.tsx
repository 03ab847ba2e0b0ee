import { clsx } from 'clsx';
import type { CSSProperties, ReactNode } from 'react';
import styles from './Avatar.module.css';
import { PresenceDot } from './PresenceDot.tsx';

/** Hue in degrees, the same for the same name on every screen (FNV-1a over UTF-16 code units). */
export function avatarHue(name: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash % 360;
}

/** First letter, digit or emoji: a name may begin with marks that draw nothing. */
export function avatarInitial(name: string): string {
  return (/[\p{L}\p{N}\p{Emoji_Presentation}]/u.exec(name)?.[0] ?? '?').toUpperCase();
}

interface AvatarProps {
  name: string;
  /** Pixels. */
  size?: number;
  /** Draws a presence dot; say the state in text nearby. */
  online?: boolean | undefined;
  /** Round for one, square for several. */
  shape?: 'round' | 'square';
  /** In place of the initial, for what isn’t a person; false for whoever is one. */
  icon?: ReactNode;
}

export function Avatar({ name, size = 40, online, shape = 'round', icon }: AvatarProps) {
  const look: CSSProperties & Record<`--${string}`, string> = {
    '--avatar-size': `${size}px`,
    '--avatar-hue': String(avatarHue(name)),
  };
  return (
    <span className={styles.frame} aria-hidden="true">
      <span className={clsx(styles.avatar, shape === 'square' && styles.square)} style={look}>
        {icon || avatarInitial(name)}
      </span>
      {online !== undefined && (
        <span className={styles.dot}>
          <PresenceDot online={online} />
        </span>
      )}
    </span>
  );
}
