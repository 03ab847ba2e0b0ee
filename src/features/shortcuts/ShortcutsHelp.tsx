import { useAtom } from 'jotai';
import { Fragment } from 'react';
import { t } from '../../i18n/i18n.ts';
import { shortcutsHelpOpenAtom } from '../../store/shortcutsHelp.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { isMac, keyCaps, shortcutNames } from './keys.ts';
import styles from './ShortcutsHelp.module.css';

/** The list of all keys. */
export function ShortcutsHelp() {
  const [open, setOpen] = useAtom(shortcutsHelpOpenAtom);
  const mac = isMac();
  return (
    <Dialog open={open} onOpenChange={setOpen} title={t('shortcuts.title')}>
      <dl className={styles.list}>
        {shortcutNames.map((name) => (
          <Entry key={name} text={t(`shortcuts.${name}`)} caps={keyCaps(name, mac)} />
        ))}
        <Entry text={t('shortcuts.emoji')} caps={['Ctrl', 'E']} />
        <Entry text={t('shortcuts.send')} caps={['Enter']} />
        <Entry text={t('shortcuts.newLine')} caps={['Shift', 'Enter']} />
        <Entry text={t('shortcuts.toast')} caps={['F6']} />
        <Entry text={t('shortcuts.close')} caps={['Esc']} />
      </dl>
    </Dialog>
  );
}

function Entry({ text, caps }: { text: string; caps: readonly string[] }) {
  return (
    <div className={styles.entry}>
      <dt>{text}</dt>
      <dd className={styles.keys} dir="ltr">
        {caps.map((cap, index) => (
          <Fragment key={cap}>
            {index > 0 && ' + '}
            <kbd className={styles.key}>{cap}</kbd>
          </Fragment>
        ))}
      </dd>
    </div>
  );
}
