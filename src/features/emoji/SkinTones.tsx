import { Toggle } from '@base-ui/react/toggle';
import { ToggleGroup } from '@base-ui/react/toggle-group';
import { t } from '../../i18n/i18n.ts';
import styles from './EmojiPicker.module.css';
import { type SkinTone, skinTones } from './emojis.ts';

/** A hand in each tone. */
const samples: Readonly<Record<SkinTone, string>> = {
  0: '✋',
  1: '✋🏻',
  2: '✋🏼',
  3: '✋🏽',
  4: '✋🏾',
  5: '✋🏿',
};

interface SkinTonesProps {
  value: SkinTone;
  onValueChange: (tone: SkinTone) => void;
}

/** Chooses the skin tone of hands and people. */
export function SkinTones({ value, onValueChange }: SkinTonesProps) {
  return (
    <div className={styles.tones}>
      <span aria-hidden="true">{t('emoji.skinTone')}</span>
      <ToggleGroup
        className={styles.choices}
        aria-label={t('emoji.skinTone')}
        value={[String(value)]}
        onValueChange={([next]) => onValueChange(skinTones.find((tone) => String(tone) === next) ?? value)}
      >
        {skinTones.map((tone) => {
          const label = t(`emoji.skinTone.${tone}`);
          return (
            <Toggle key={tone} value={String(tone)} className={styles.tone} aria-label={label} title={label}>
              {samples[tone]}
            </Toggle>
          );
        })}
      </ToggleGroup>
    </div>
  );
}
