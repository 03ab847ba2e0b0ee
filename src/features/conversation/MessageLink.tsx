import type { ReactNode } from 'react';
import { t } from '../../i18n/i18n.ts';
import type { TextLink } from '../../lib/links.ts';
import styles from './MessageLink.module.css';

interface MessageLinkProps {
  link: TextLink;
  children: ReactNode;
}

/** A link in a message, with the host that it leads to where its words don't show it. */
export function MessageLink({ link: { hiddenHost, href }, children }: MessageLinkProps) {
  return (
    <>
      <a
        href={href}
        title={href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        referrerPolicy="no-referrer"
      >
        <bdi dir="ltr">{children}</bdi>
      </a>
      {hiddenHost !== null && (
        <span className={styles.host}>
          {' '}
          <bdi>{t('chat.linkHost', { host: hiddenHost })}</bdi>
        </span>
      )}
    </>
  );
}
