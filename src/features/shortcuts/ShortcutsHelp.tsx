import { Fragment } from 'react';
import { t } from '../../i18n/i18n.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { isMac, keyCaps, shortcutNames } from './keys.ts';
import styles from './ShortcutsHelp.module.css';

export interface ShortcutsHelpProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}

/** The list of all keys. */
export function ShortcutsHelp({ open, onOpenChange }: ShortcutsHelpProps) {
  const mac = isMac();
  const command = mac ? '⌘' : 'Ctrl';
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={t('shortcuts.title')}>
      <dl className={styles.list}>
        {shortcutNames.map((name) => (
          <Entry key={name} text={t(`shortcuts.${name}`)} caps={keyCaps(name, mac)} />
        ))}
        <Entry text={t('shortcuts.emoji')} caps={['Ctrl', 'E']} />
        <Entry text={t('shortcuts.send')} caps={['Enter']} />
        <Entry text={t('shortcuts.newLine')} caps={['Shift', 'Enter']} />
        <Entry text={t('shortcuts.bold')} caps={[command, 'B']} />
        <Entry text={t('shortcuts.italic')} caps={[command, 'I']} />
        <Entry text={t('shortcuts.strikethrough')} caps={[command, 'Shift', 'X']} />
        <Entry text={t('shortcuts.code')} caps={[command, 'Shift', 'M']} />
        <Entry text={t('shortcuts.messageReply')} caps={['R']} />
        <Entry text={t('shortcuts.messageReact')} caps={['+']} />
        <Entry text={t('shortcuts.messageEdit')} caps={['E']} />
        <Entry text={t('shortcuts.messageEditLast')} caps={['↑']} />
        <Entry text={t('shortcuts.messageDelete')} caps={[mac ? '⌫' : 'Del']} />
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
