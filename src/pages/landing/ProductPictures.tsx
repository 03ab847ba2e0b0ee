import type { ComponentProps } from 'react';
import { t } from '../../i18n/i18n.ts';
import styles from './ProductPictures.module.css';
import conversationDark from './pictures/conversation-dark.webp';
import conversationLight from './pictures/conversation-light.webp';
import phoneDark from './pictures/phone-dark.webp';
import phoneLight from './pictures/phone-light.webp';

/** The product itself, in the theme of the reader's system. `npm run pictures` takes the pictures anew. */
export function ProductPictures() {
  return (
    <div className={styles.pictures}>
      <ProductPicture
        className={styles.screen}
        light={conversationLight}
        dark={conversationDark}
        alt={t('landing.picture.conversation')}
        width={1800}
        height={1125}
      />
      <ProductPicture
        className={styles.phone}
        light={phoneLight}
        dark={phoneDark}
        alt={t('landing.picture.phone')}
        width={720}
        height={1440}
        loading="lazy"
      />
    </div>
  );
}

interface ProductPictureProps extends Omit<ComponentProps<'img'>, 'src'> {
  light: string;
  dark: string;
  alt: string;
}

function ProductPicture({ light, dark, alt, ...image }: ProductPictureProps) {
  return (
    <picture>
      <source srcSet={dark} media="(prefers-color-scheme: dark)" />
      <img {...image} src={light} alt={alt} decoding="async" />
    </picture>
  );
}
